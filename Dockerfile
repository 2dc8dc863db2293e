# explorer-etl, to run beside a Postgres of yours: deploy/README.md.
#
# The digest is that of the index for amd64 and arm64, so the tag before it only tells people what it is.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20

FROM ${NODE_IMAGE} AS package
WORKDIR /source
COPY package.json package-lock.json ./
# No script of any package runs: the bundler's binary is a package of its own.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# The very package that npm has, installed without the Postgres and the Node that it would bring.
RUN npm pack --pack-destination /tmp \
  && npm install --prefix /opt/explorer-etl --omit=optional --ignore-scripts --no-audit --no-fund \
    /tmp/explorer-etl-*.tgz

FROM ${NODE_IMAGE}
ARG VERSION=0.0.0
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="explorer-etl" \
  org.opencontainers.image.description="Copies a blockchain explorer's paginated API into Postgres, keeps it current, and can prove that nothing is missing." \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.source="${SOURCE}"
COPY --from=package /opt/explorer-etl/node_modules /opt/explorer-etl/node_modules
# Where it listens is in the configuration: /etc/explorer-etl/explorer-etl.yaml is mounted.
ENV NODE_ENV=production \
  PATH=/opt/explorer-etl/node_modules/.bin:$PATH \
  EXPLORER_ETL_CONFIG=/etc/explorer-etl/explorer-etl.yaml
# The user `node`, by number: Kubernetes can tell only then that it is not root.
USER 1000:1000
WORKDIR /tmp
EXPOSE 4400 9464
# Node takes signals itself and starts no process that it does not wait for: it can be process 1.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
  CMD ["node", "--eval", "fetch('http://127.0.0.1:9464/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["explorer-etl"]
CMD ["start"]
