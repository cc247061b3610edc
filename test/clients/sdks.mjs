/**
 * The real SDKs, each against an upstream that plays its vendor, behind a gateway with these `settings`. `open` makes a
 * client for a key, `ask` one request with it. `refused`, `limited` and `own` read the error that it throws for the
 * gateway's 401 and 429 and for the vendor's `failure`: its code, or false when it is not the SDK's class for that.
 */
export const PACKAGES = {
  openai: '6.49.0',
  '@anthropic-ai/sdk': '1.14.0',
  stripe: '23.1.0',
  octokit: '5.0.5',
  '@aws-sdk/client-s3': '3.1175.0',
};

const json = (status, body) => ({ status, type: 'application/json', body: JSON.stringify(body) });
const xml = (status, body) => ({ status, type: 'application/xml', body: `<?xml version="1.0"?>${body}` });

export const SDKS = [
  {
    name: 'openai',
    settings: { errors: 'nested' },
    open: ({ default: OpenAI }, { url, key, retries }) =>
      new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: retries }),
    ask: (client) => client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
    success: json(200, { id: 'c', object: 'chat.completion', choices: [{ message: { content: 'hello' } }] }),
    failure: json(429, { error: { message: 'Pay first.', type: 'insufficient_quota', code: 'insufficient_quota' } }),
    ownCode: 'insufficient_quota',
    refused: (error, { AuthenticationError }) => error instanceof AuthenticationError && error.code,
    limited: (error, { RateLimitError }) => error instanceof RateLimitError && error.code,
    own: (error, { RateLimitError }) => error instanceof RateLimitError && error.code,
  },
  {
    name: '@anthropic-ai/sdk',
    settings: { errors: 'nested' },
    open: ({ default: Anthropic }, { url, key, retries }) =>
      new Anthropic({ apiKey: key, baseURL: url, maxRetries: retries }),
    ask: (client) => client.messages.create({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
    success: json(200, { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'hello' }] }),
    failure: json(400, { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens' } }),
    ownCode: 'invalid_request_error',
    refused: (error, { AuthenticationError }) => error instanceof AuthenticationError && error.error.error.code,
    limited: (error, { RateLimitError }) => error instanceof RateLimitError && error.error.error.code,
    own: (error, { BadRequestError }) => error instanceof BadRequestError && error.error.error.type,
  },
  {
    name: 'stripe',
    settings: { errors: 'nested' },
    open: ({ default: Stripe }, { url, key, retries }) => {
      const { protocol, hostname, port } = new URL(url);
      return new Stripe(key, { protocol: protocol.slice(0, -1), host: hostname, port, maxNetworkRetries: retries });
    },
    ask: (client) => client.charges.create({ amount: 100, currency: 'eur', source: 'tok_visa' }),
    success: json(200, { id: 'ch_1', object: 'charge', paid: true }),
    failure: json(402, { error: { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' } }),
    ownCode: 'card_declined',
    refused: (error) => error.type === 'StripeAuthenticationError' && error.code,
    limited: (error) => error.type === 'StripeRateLimitError' && error.code,
    waits: (error) => error.headers['retry-after'],
    own: (error) => error.type === 'StripeCardError' && error.code,
  },
  {
    name: 'octokit',
    settings: { credentials: [{ scheme: 'token' }] },
    fieldOf: (key) => ({ authorization: `token ${key}` }),
    open: ({ Octokit }, { url, key, retries }) => {
      const again = (_waitS, _options, _octokit, count) => count < retries;
      return new Octokit({
        auth: key,
        baseUrl: url,
        log: { debug() {}, info() {}, warn() {}, error() {} },
        throttle: { onRateLimit: again, onSecondaryRateLimit: again },
        retry: { doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451] },
      });
    },
    ask: (client) => client.rest.repos.get({ owner: 'octocat', repo: 'hello' }),
    success: json(200, { id: 1, full_name: 'octocat/hello' }),
    failure: json(404, { message: 'Not Found', documentation_url: 'https://docs.github.com', status: '404' }),
    ownCode: 'Not Found',
    refused: (error, { RequestError }) =>
      error instanceof RequestError && error.status === 401 && error.response.data.code,
    limited: (error, { RequestError }) =>
      error instanceof RequestError && error.status === 429 && error.response.data.code,
    own: (error, { RequestError }) => error instanceof RequestError && error.response.data.message,
  },
  {
    name: '@aws-sdk/client-s3',
    settings: { errors: 'xml', credentials: [{ header: 'X-API-Key' }] },
    fieldOf: (key) => ({ 'x-api-key': key }),
    open: ({ S3Client }, { url, key, retries }) => {
      const client = new S3Client({
        endpoint: url,
        region: 'eu-central-1',
        forcePathStyle: true,
        maxAttempts: retries + 1,
        credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      });
      const withKey = (next) => (call) => {
        call.request.headers['x-api-key'] = key;
        return next(call);
      };
      client.middlewareStack.add(withKey, { step: 'build', name: 'gatewayKey' });
      return client;
    },
    ask: (client, { GetObjectCommand }) => client.send(new GetObjectCommand({ Bucket: 'b', Key: 'k' })),
    success: { status: 200, type: 'text/plain', body: 'hello' },
    failure: xml(404, '<Error><Code>NoSuchKey</Code><Message>There is no such key.</Message></Error>'),
    ownCode: 'NoSuchKey',
    refused: (error, { S3ServiceException }) => error instanceof S3ServiceException && error.name,
    limited: (error, { S3ServiceException }) => error instanceof S3ServiceException && error.name,
    own: (error, { NoSuchKey }) => error instanceof NoSuchKey && error.name,
  },
];
