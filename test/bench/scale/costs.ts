/** What things cost, in µs of one processor. */
export interface Costs {
  /** Redis, for what one gateway sends a node in one turn of its event loop: waking up, reading, answering. */
  readonly wakeUs: number;
  /** Redis, for each run of the script … */
  readonly runUs: number;
  /** … each key in it … */
  readonly keyUs: number;
  /** … and each further request of a key in it. */
  readonly repeatUs: number;
  /** A gateway process, for each request, HTTP both ways included … */
  readonly gatewayUs: number;
  /** … and for each run of the script that it sends. */
  readonly sendUs: number;
}

/** As `script.js` and `npm run bench` measured them; docs/guides/scale.md says on what. */
export const MEASURED: Costs = { wakeUs: 5, runUs: 6.5, keyUs: 6.5, repeatUs: 1.5, gatewayUs: 55, sendUs: 13 };
