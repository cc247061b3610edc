import { Notice, Problems } from '../../pages/components/notice.js';
import type { Visit } from '../page.js';

/** What the last form on a page did, by the last part of its path. */
const DONE: Readonly<Record<string, string>> = {
  changed: 'Changed. It applies from the next request.',
  enabled: 'Enabled: it may be used from the next request on.',
  disabled: 'Disabled: it is refused from the next request on.',
  granted: 'Granted.',
  corrected: 'Corrected: reports have it from now on.',
  withdrawn: 'The grant is withdrawn.',
  banned: 'Banned: it is refused from the next request on.',
  lifted: 'The ban is lifted, and what led to it forgotten.',
  revoked: 'Revoked permanently.',
  closed: 'Closed permanently, with all its keys.',
};

/** What came of the form that led here. */
export function Outcome({ visit, problems }: { readonly visit: Visit; readonly problems: readonly string[] }) {
  const done = Object.hasOwn(DONE, visit.query.text('done')) ? DONE[visit.query.text('done')] : undefined;
  return (
    <>
      <Problems problems={problems} />
      {done !== undefined && problems.length === 0 && (
        <Notice>
          <p>{done}</p>
        </Notice>
      )}
    </>
  );
}
