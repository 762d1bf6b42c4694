# Serves the catalog that make catalog writes: the context is that folder. The cache is made on
# the builder's own platform, so that an image for another architecture needs no emulation; its
# bytes are the same on all of them.
FROM --platform=$BUILDPLATFORM quay.io/operator-framework/opm:v1.61.0 AS cache
COPY configs /configs
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]

FROM quay.io/operator-framework/opm:v1.61.0
COPY --from=cache /configs /configs
COPY --from=cache --chown=1001:0 /tmp/cache /tmp/cache
LABEL operators.operatorframework.io.index.configs.v1=/configs
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]
