import { readFileSync } from 'node:fs';
import { pageFile, STYLE_FILE, type PageFile } from '../pages/files.js';
import { CONSOLE } from './visit/page.js';

const LIVE_FILE = pageFile('live', 'js', readFileSync(new URL('./console-browser.js', import.meta.url), 'utf8'));

export const LIVE_SCRIPT = LIVE_FILE.name;

/** The files that pages load, by path. They need no session. */
export const FILES: ReadonlyMap<string, PageFile> = new Map(
  [STYLE_FILE, LIVE_FILE].map((file) => [`${CONSOLE}/files/${file.name}`, file]),
);
