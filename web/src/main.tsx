import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { open } from "./model/app.ts";
import { Shell } from "./views/shell.tsx";
import { startTheme } from "./views/theme.tsx";

startTheme();
render(<Shell />, document.getElementById("app")!);
void open();
