// All plots on the page as one image: title, canvases, colour legend.
import { token } from "../plots/colours.ts";

const EDGE = 24;

export async function picture(title: string): Promise<Blob> {
  const all = [...document.querySelectorAll<HTMLCanvasElement>("main canvas")].filter(({ width, height }) => width > 0 && height > 0);
  if (!all.length) throw new Error("found no plot on this page to export");
  const legend = [...document.querySelectorAll<HTMLElement>("main .bars li")].slice(0, 24).map((row) => ({
    colour: row.querySelector<HTMLElement>(".bar-fill")?.style.background ?? "",
    text: `${row.querySelector(".bar-name")?.textContent ?? ""} ${row.querySelector(".bar-value")?.textContent ?? ""}`,
  }));
  const width = Math.max(...all.map((one) => one.width), 640) + 2 * EDGE;
  const rows = Math.ceil(legend.length / 2);
  const height = 60 + all.reduce((sum, one) => sum + one.height + EDGE, 0) + rows * 24 + EDGE;
  const sheet = document.createElement("canvas");
  [sheet.width, sheet.height] = [width, height];
  const pen = sheet.getContext("2d")!;
  pen.fillStyle = token("paper");
  pen.fillRect(0, 0, width, height);
  pen.fillStyle = token("ink");
  pen.font = "600 18px system-ui, sans-serif";
  pen.fillText(title, EDGE, 38, width - 2 * EDGE);
  let y = 60;
  for (const one of all) {
    pen.drawImage(one, EDGE, y);
    y += one.height + EDGE;
  }
  pen.font = "14px system-ui, sans-serif";
  legend.forEach(({ colour, text }, n) => {
    const [x, at] = [EDGE + (n % 2) * ((width - EDGE) / 2), y + Math.floor(n / 2) * 24];
    pen.fillStyle = colour;
    pen.fillRect(x, at, 16, 12);
    pen.fillStyle = token("ink");
    pen.fillText(text, x + 24, at + 11, width / 2 - 60);
  });
  return new Promise((done, fail) => sheet.toBlob((blob) => (blob ? done(blob) : fail(new Error("the image is too large"))), "image/png"));
}
