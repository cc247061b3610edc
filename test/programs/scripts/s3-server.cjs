const S3rver = require('s3rver');

const [, , port, directory] = process.argv;
const configureBuckets = [{ name: 'pets' }];
void new S3rver({ port: Number(port), address: '127.0.0.1', silent: true, directory, configureBuckets }).run();
