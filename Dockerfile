# Two images from one build: `docker build --target gateway .` and `docker build --target pets .`
# Both run as user node (1000) and write to /data only, so the root file system may be read-only.
# Debian and not Alpine: lmdb's prebuilt programs need glibc.
FROM node:24-slim AS base
WORKDIR /app

FROM base AS dependencies
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund

FROM dependencies AS build
COPY tsconfig.json ./
COPY src ./src
RUN node src/bootstrap.mjs bundle

FROM base AS runtime
ENV NODE_ENV=production PETGATE_DATA=/data
RUN mkdir /data && chown node:node /data
VOLUME /data
COPY package.json ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist/program ./dist/program
USER node

FROM runtime AS pets
# The gateway is another container.
ENV PETS_HOST=0.0.0.0
EXPOSE 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PETS_PORT || 8081}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/program/main.js", "pets"]

FROM runtime AS gateway
COPY src/gateway/store/redis/scripts ./src/gateway/store/redis/scripts
COPY config ./config
COPY docs/runbooks ./docs/runbooks
EXPOSE 8080 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 9090}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/program/main.js", "gateway"]
