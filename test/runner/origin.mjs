import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join } from 'node:path';

const PLACE = /\bdist\/[^\s:()]+\.js:\d+(?::\d+)?/g;

/** Replaces places in what was built, `dist/test/a.test.js:3:5`, by those in its sources: `test/a.test.ts:7`. */
export function withOrigins(text) {
  return text.replace(PLACE, (place) => {
    const [file, line, column = 1] = place.split(':');
    try {
      const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
      const { originalSource, originalLine } = map.findEntry(Number(line) - 1, Number(column) - 1);
      return `${join(dirname(file), originalSource)}:${originalLine + 1}`;
    } catch {
      return place;
    }
  });
}
