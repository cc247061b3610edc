import type { Machine } from './machine.js';
import type { CaseReport, ScenarioReport } from './report.js';
import type { SubjectName } from './subjects/subject.js';

const LABELS: Readonly<Record<SubjectName, string>> = {
  bare: 'bare Node + undici, no policy',
  embedded: 'Petgate, embedded store',
  'embedded+log': 'Petgate, embedded, access log',
  redis: 'Petgate, Redis',
  'redis+log': 'Petgate, Redis, access log',
  'embedded+github': "Petgate, embedded, GitHub's contract",
  'redis+github': "Petgate, Redis, GitHub's contract",
  'embedded+holds': 'Petgate, embedded, costs of responses',
  'redis+holds': 'Petgate, Redis, costs of responses',
  nginx: 'nginx + Lua + Redis',
  fastify: 'fastify stack + Redis',
  express: 'express stack + Redis',
};
const [WIDTH, MARGIN, LEFT, RIGHT, TOP, ROW, BAR] = [840, 16, 246, 190, 66, 30, 18];

/** Has a ground of its own: the page may be dark where the reader's system is light. */
const STYLE = `
  .ground { fill: #ffffff; }
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 15px; font-weight: 600; }
  .small { font-size: 11px; fill: #59636e; }
  .ours { fill: #1a7f5a; } .other { fill: #8b949e; } .store { fill: #d4a72c; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; }
    text { fill: #e6edf3; }
    .small { fill: #9198a1; }
    .ours { fill: #3fb98a; } .other { fill: #6e7681; } .store { fill: #bb8009; }
  }`;

/** SVG of the CPU per request of each subject, gateway and store. */
export function plotOf({ title, rounds, cases }: ScenarioReport, { node, commit, date }: Machine): string {
  const longest = Math.max(...cases.map(({ totalUs }) => totalUs.median));
  const scale = (WIDTH - LEFT - RIGHT) / longest;
  const height = TOP + cases.length * ROW + 30;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"
  role="img" aria-label="CPU per request, gateway and store">
<style>${STYLE}
</style>
<rect class="ground" width="${WIDTH}" height="${height}" rx="8"/>
<text class="title" x="${MARGIN}" y="28">CPU per request, µs: gateway and its store</text>
<text class="small" x="${MARGIN}" y="48">${escape(title)}, one process each, ${rounds} interleaved rounds, medians.
The yellow part is Redis.</text>
${cases.map((one, place) => rowOf(one, TOP + place * ROW, scale)).join('\n')}
<text class="small" x="${MARGIN}" y="${height - 14}">Petgate ${escape(commit)}, Node ${escape(node)}, ${escape(date)}.
npm run bench makes this picture.</text>
</svg>
`;
}

function rowOf(
  { subject, gatewayUs, storeUs, totalUs, ratios: { nginx } }: CaseReport,
  top: number,
  scale: number,
): string {
  const kind = /^(embedded|redis)/.test(subject) ? 'ours' : 'other';
  const width = (us: number): string => (us * scale).toFixed(1);
  const beside = nginx === undefined || subject === 'nginx' ? '' : ` (${nginx.median.toFixed(2)} × nginx)`;
  const store =
    storeUs.median === 0
      ? ''
      : `<rect class="store" x="${(LEFT + gatewayUs.median * scale).toFixed(1)}" y="${top}" ` +
        `width="${width(storeUs.median)}" height="${BAR}"/>`;
  return (
    `<text x="${LEFT - 10}" y="${top + 14}" text-anchor="end">${escape(LABELS[subject])}</text>` +
    `<rect class="${kind}" x="${LEFT}" y="${top}" width="${width(gatewayUs.median)}" height="${BAR}"/>${store}` +
    `<text x="${(LEFT + totalUs.median * scale + 8).toFixed(1)}" ` +
    `y="${top + 14}">${totalUs.median.toFixed(1)}${beside}</text>`
  );
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
