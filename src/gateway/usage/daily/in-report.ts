import type { UsageRow } from '../../store/records/counts.js';

const ROWS = '"rows":[';
const END = '],"totals":';

/** Yields the rows of a report by key, plan, operation and day, from its JSON (`reportAsJson`: one row per line). */
export async function* rowsInReport(pieces: AsyncIterable<string | Buffer>): AsyncGenerator<readonly UsageRow[], void> {
  const decoder = new TextDecoder();
  let [text, hasBegun] = ['', false];
  for await (const piece of pieces) {
    text += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    if (!hasBegun) {
      const begin = text.indexOf(ROWS);
      if (begin === -1) continue;
      [text, hasBegun] = [text.slice(begin + ROWS.length), true];
    }
    const end = text.lastIndexOf(',\n');
    if (end === -1) continue;
    yield JSON.parse(`[${text.slice(0, end)}]`) as readonly UsageRow[];
    text = text.slice(end + 2);
  }
  const end = text.lastIndexOf(END);
  if (end === -1) throw new Error('the report is incomplete');
  yield JSON.parse(`[${text.slice(0, end)}]`) as readonly UsageRow[];
}
