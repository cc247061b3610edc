import { type AdminClient, listIn } from '../admin/admin-client.js';
import { say, styled } from '../terminal/output.js';
import { cell } from '../../shared/text/readable.js';

/**
 * Prints how to make the first request. A store without any key gets one on plan free, shown only once.
 * @param requestWith returns the arguments of `curl -i` that send a key
 * @param program the command for another terminal, with the variables that it needs there
 */
export async function welcome(
  client: AdminClient,
  requestWith: (key: string) => string,
  program: string,
): Promise<void> {
  const another = `Another key:\n  ${program} keys create --plan free --name "My app"`;
  const keys = listIn(await client.ask('GET', '/admin/v1/keys?limit=1'), 'keys');
  if (keys.length > 0) {
    say(`\nThe data of the last start is kept. ${another}`);
    return;
  }
  const made = await client.ask('POST', '/admin/v1/keys', {
    plan: 'free',
    name: 'Demo',
    note: 'created by the first start',
  });
  const key = cell(made['key']);
  say(
    `\nA demo key on plan free, shown only this once:\n  ${styled('bold', key)}\n\nTry it:\n  curl -i ` +
      `${requestWith(key)}\n\n${another}`,
  );
}
