import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** An image of one layer, as an OCI layout. */
export function writeImage(folder) {
  mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
  const put = (bytes, mediaType) => {
    const hash = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(folder, 'blobs/sha256', hash), bytes);
    return { mediaType, digest: `sha256:${hash}`, size: bytes.length };
  };
  // An empty tar: two blocks of nothing, and much of it.
  const tar = Buffer.alloc(1024 * 1024);
  const layer = put(gzipSync(tar, { level: 0 }), 'application/vnd.oci.image.layer.v1.tar+gzip');
  const diffId = `sha256:${createHash('sha256').update(tar).digest('hex')}`;
  const about = { architecture: 'amd64', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [diffId] } };
  const config = put(Buffer.from(JSON.stringify(about)), 'application/vnd.oci.image.config.v1+json');
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = put(
    Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers: [layer] })),
    mediaType,
  );
  const named = { ...manifest, annotations: { 'org.opencontainers.image.ref.name': 'latest' } };
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [named] }));
  writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
}
