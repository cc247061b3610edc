import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LIMIT = 2_000;
const HOLD = 60;
const COST = { hold: HOLD, from: { json: '/usage/total_tokens' } };
const CONTRACT = {
  openapi: '3.1.0',
  paths: { '/v1/chat/completions': { post: { operationId: 'chat', requestBody: {}, 'x-petgate': { cost: COST } } } },
};
const NO_BAN = { after: 1_000_000 };
const PLANS = {
  tokens: { limits: { minute: LIMIT, day: 'unlimited' }, ban: NO_BAN },
  anonymous: { limits: { minute: 10, day: 10 }, ban: NO_BAN },
};

/** docs/guides/sell-tokens.md: a plan counts tokens, the SDK streams, and the bill is what the model used. */
export async function sellTokens(
  t,
  { default: OpenAI, RateLimitError },
  { startGateway, startUpstream, countsOf },
  check,
) {
  const upstream = await startUpstream(t);
  let used = 0;
  upstream.handle = (_seen, response) => {
    const tokens = 1 + Math.floor(Math.random() * HOLD);
    used += tokens;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'hello' } }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    const usage = { prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens };
    response.end(`data: ${JSON.stringify({ ...chunk, choices: [], usage })}\n\ndata: [DONE]\n\n`);
  };
  const contract = join(mkdtempSync(join(tmpdir(), 'petgate-tokens-')), 'contract.json');
  writeFileSync(contract, JSON.stringify(CONTRACT));
  const gateway = await startGateway(t, {
    plans: PLANS,
    config: { contract, errors: 'nested', upstreams: { default: { addresses: [upstream.url] } } },
  });
  const { key } = await gateway.createKey({ plan: 'tokens' });
  const openai = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const stream = async () => {
    const messages = [{ role: 'user', content: 'hi' }];
    const options = { model: 'm', messages, stream: true, stream_options: { include_usage: true } };
    for await (const chunk of await openai.chat.completions.create(options)) void chunk;
  };
  let error = null;
  for (let round = 0; error === null && round < 1_000; round += 1) {
    const ended = await Promise.allSettled(Array.from({ length: 10 }, stream));
    error = ended.find(({ status }) => status === 'rejected')?.reason ?? null;
  }
  check(error instanceof RateLimitError, `the SDK throws ${error?.constructor.name} ${error?.code}`);
  check(used <= LIMIT, `${used} of ${LIMIT} tokens were used, by ${upstream.seen.length} streams`);
  let totals = await countsOf(gateway);
  for (let n = 0; n < 100 && totals.units - totals.returned !== used; n += 1) totals = await countsOf(gateway);
  check(totals.units - totals.returned === used, `the bill has ${totals.units - totals.returned} tokens`);
}
