const s3sdk = require('@aws-sdk/client-s3');

const { URL_, KEY } = process.env;
const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
const s3 = new s3sdk.S3Client({ endpoint: URL_, region: 'us-east-1', forcePathStyle: true, credentials });
s3.middlewareStack.add(
  (next) => (each) => {
    each.request.headers['x-api-key'] = KEY;
    return next(each);
  },
  { step: 'deserialize' },
);
const send = (name, input) => s3.send(new s3sdk[`${name}Command`]({ Bucket: 'pets', ...input }));

async function run() {
  await send('PutObject', { Key: 'a dog/ä+b', Body: 'wuff' });
  const { Body } = await send('GetObject', { Key: 'a dog/ä+b' });
  if ((await Body.transformToString()) !== 'wuff') throw new Error('another object');
  if ((await send('ListObjectsV2', {})).Contents.length !== 1) throw new Error('not listed');
  const large = { Key: 'large', ...(await send('CreateMultipartUpload', { Key: 'large' })) };
  const { Key, UploadId } = large;
  const { ETag } = await send('UploadPart', { Key, UploadId, PartNumber: 1, Body: Buffer.alloc(6_000_000) });
  await send('CompleteMultipartUpload', { Key, UploadId, MultipartUpload: { Parts: [{ ETag, PartNumber: 1 }] } });
}
void run();
