#!/usr/bin/env bash
# Build the image from the artifact without a network, on a Debian made by debootstrap, and run .test/ in it.
set -euo pipefail
for tool in buildah debootstrap unshare; do
  command -v "$tool" >/dev/null && [ "$(id -u)" = 0 ] ||
    { echo "make -C tools test-image needs root and the Debian packages buildah and debootstrap." >&2; exit 1; }
done
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
export BUILDAH_ISOLATION=chroot CONTAINERS_STORAGE_CONF="$place/storage.conf"
printf '[storage]\ndriver = "vfs"\ngraphroot = "%s/images"\nrunroot = "%s/run"\n' "$place" "$place" >"$place/storage.conf"
debootstrap --variant=minbase --include=git,make,python3-pip,python3.11 bookworm "$place/base" >"$place/log" ||
  { tail -n 20 "$place/log" >&2; exit 1; }
tar -xf "$1" -C "$place"
base="$(buildah from scratch)"
buildah add --quiet "$base" "$place/base" >"$place/log"
buildah commit --quiet --rm "$base" shuffledp-base >"$place/log"
rm -rf "$place/base"
cd "$place"/shuffledp-*
time unshare --net make image BUILDER=buildah BASE=localhost/shuffledp-base
buildah images
run="$(buildah from shuffledp)"
buildah inspect --type image --format '{{.OCIv1.Config.User}}: {{.OCIv1.Config.Cmd}}' shuffledp
smallest="random_population_fig2 --directory .test --configfile .test/config/config.yaml --cores 1"
time unshare --net buildah run "$run" -- bash -euc "id; snakemake $smallest; ls -l .test/results/figures/*"
