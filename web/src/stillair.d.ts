// Modules that build.mjs generates from the repository.
declare module "stillair:scenarios" {
  const scenarios: [id: string, text: string][];
  export default scenarios;
}
declare module "stillair:labs" {
  import type { Lab } from "./model/labs.ts";
  const labs: Lab[];
  export default labs;
}
declare module "*.css";

declare module "stillair:papers" {
  const campaigns: { paper: string; name: string; scenario: string; cells: { name: string; set: [string, string][] }[] }[];
  export default campaigns;
}
