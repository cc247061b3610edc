import { CONSOLE } from '../page.js';

/** The page of one record. @param path of its kind, such as `/keys` */
export function pathOf(path: string, id: string): string {
  return `${CONSOLE}${path}/${encodeURIComponent(id)}`;
}
