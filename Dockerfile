FROM node:26-slim AS deps
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci

FROM deps AS build
COPY tsconfig.json tsconfig.build.json ./
COPY prisma ./prisma
COPY scripts ./scripts
COPY src ./src
COPY plugins ./plugins
COPY routes ./routes
RUN npm run build

FROM node:26-slim AS production-deps
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Not npm ci --omit=dev: prisma and typescript are also optional peers of @prisma/client, so it would keep them and all
# they bring. Versions are those of the lock file here too.
RUN npm pkg delete devDependencies && npm install

FROM node:26-slim AS production
# On every address of the container: therefore it starts only with AUTH, or with AUTH_ALLOW_ANONYMOUS=true.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data
WORKDIR /app
COPY --from=production-deps /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY prisma/migrations ./prisma/migrations
COPY bin ./bin
COPY package.json parley.config.ts ./
COPY agents ./agents
RUN mkdir -p /data && chown node:node /data
VOLUME /data
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The server itself and not npm, which would be process 1 and pass no signals on.
CMD ["node", "dist/src/server.js"]
