import { CONSOLE } from '../visit/page.js';

/** Returns the path of a record's page. @param path the list it is in, such as `/keys` */
export function pathOf(path: string, id: string): string {
  return `${CONSOLE}${path}/${encodeURIComponent(id)}`;
}
