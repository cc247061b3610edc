const { URL_, KEY } = process.env;

async function ask(query, accept = 'application/json') {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', accept };
  const answer = await fetch(`${URL_}/graphql`, { method: 'POST', body: JSON.stringify({ query }), headers });
  return answer.text();
}

async function run() {
  if (JSON.parse(await ask('{ a }')).data.a !== 1) throw new Error('no data');
  if (!(await ask('{ nothing }')).includes('Cannot query field')) throw new Error('its error is lost');
  const events = await ask('subscription { count }', 'text/event-stream');
  if (events.split('"count":').length !== 4) throw new Error(`other events: ${events}`);
}
void run();
