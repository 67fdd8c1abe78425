#!/usr/bin/env bash
# Collects what a GPU machine needs to run check.sh - no compiler, no toolkit, no packages - into one
# directory: the program, the shared libraries it needs, schemas, and kernels compiled here.
#   tests/gpu/pack.sh <build directory> [<output directory>] [<architecture>] [<kernel>...]
# With names of kernels, only those of the manifest.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:?usage: tests/gpu/pack.sh <build directory> [<output directory>] [<architecture>]}
out=${2:-$root/build/gpu-pack}
arch=${3:-sm_90}
only=" ${*:4} "
program=$build/tests/gpu/gpu_check
[ -x "$program" ] || { echo "pack.sh: no $program: build the target gpu_check first" >&2; exit 2; }
command -v nvcc > /dev/null || { echo "pack.sh: nvcc is not on PATH" >&2; exit 3; }

kernels=$out.kernels  # stays between calls; travels as an archive
rm -rf "$out"
mkdir -p "$out/bin" "$out/lib" "$out/schemas" "$out/kernels" "$kernels"
strip -g -o "$out/bin/gpu_check" "$program"
[ ! -x "$build/fuzzers/warpfuzz" ] || strip -g -o "$out/bin/warpfuzz" "$build/fuzzers/warpfuzz"
cp "$root"/tests/gpu/check.sh "$out/"
cp "$(command -v zstd)" "$out/bin/"
cp "$root"/schemas/*.json "$out/schemas/"
cp -r "$root"/kernels/{manifest.json,correct,faulty,ptx} "$out/kernels/"
# A PTX kernel as a cubin as well.
ptxas -arch="$arch" -lineinfo -o "$out/kernels/ptx/softmax_rows.cubin" "$root/kernels/ptx/softmax_rows.ptx"
sed 's/softmax_rows.ptx/softmax_rows.cubin/' "$root/kernels/ptx/softmax_rows.json" \
  > "$out/kernels/ptx/softmax_rows_cubin.json"
mkdir -p "$out/findings"
cp "$root"/tests/gpu/sanitizer_rows.txt "$out/"
# Everything but the C library itself and what the driver brings.
ldd "$out"/bin/* | awk '/=> \// {print $3}' |
  grep -vE '/(libc|libm|libmvec|libdl|librt|libpthread|ld-linux[^/]*)\.so' |
  while read -r library; do cp -L "$library" "$out/lib/"; done

# name op expected-verdict tier source, one kernel per line.
python3 - "$root" > "$out/kernels.txt" << 'EOF'
import json, sys
root = sys.argv[1]
for k in json.load(open(f"{root}/kernels/manifest.json"))["kernels"]:
    gates = ",".join(k.get("gates", ["clean"]))
    print(k["name"], k["op"], gates, k.get("tier", 1), f"kernels/{k['source']}")
EOF

compile() {  # source object [options]
  local source=$1 object=$2
  shift 2
  if [ ! -e "$object" ] || [ "$source" -nt "$object" ] ||
    [ -n "$(find "$root"/kernels/cuda/runtime_* "$root"/kernels/cuda/ptx \
      "$root"/kernels/cuda/huge_*.h "$root"/reference/{acceptance,float_encoding}.h \
      "$root"/reference/product_*.h "$root"/seeds/random_laws.h "$root"/seeds/generator.h \
      "$root"/kernels/warpfuzz_kernel.* "$root"/tests/gpu/puzzles/*.hpp -newer "$object" -type f)" ]; then
    "$program" build "$source" "$object" --kernels "$root/kernels" --arch "$arch" "$@" || {
      echo "pack.sh: cannot compile $source" >&2
      return 1
    }
    strip -g "$object"
  fi
}
failed=0
while read -r name op expected tier source; do
  [[ $source == *.cu ]] || continue
  [[ $only == "  " || $only == *" $name "* ]] || continue
  compile "$root/$source" "$kernels/$name.so" || failed=$((failed + 1))
done < "$out/kernels.txt"
for name in softmax relu_vectorized relu; do
  compile "$root/kernels/correct/$name.cu" "$kernels/$name.plain.so" --coverage false
  compile "$root/kernels/correct/$name.cu" "$kernels/$name.blocks.so" --predicates false
done
for name in huge_tensors huge_product; do
  compile "$root/kernels/cuda/$name.cu" "$kernels/$name.so" || failed=$((failed + 1))
done
# Without counters, for compute-sanitizer, each with the finding that the CPU device made.
while read -r _ name op _; do
  compile "$root/kernels/faulty/$name.cu" "$kernels/$name.plain.so" --coverage false
  cp "$root/crashes/$op/regression/$name.wfr" "$out/findings/"
done < "$root/tests/gpu/sanitizer_rows.txt"
for source in "$root"/tests/gpu/puzzles/*.cu; do
  compile "$source" "$kernels/$(basename "$source" .cu).so" || failed=$((failed + 1))
done
# NVIDIA's libraries as kernels, where they are installed; the GPU machine must have them too.
for source in "$root"/tests/gpu/libraries/*.cu; do
  name=$(basename "$source" .cu)
  [[ $name == cublas* ]] && libraries=(-lcublas) || libraries=(-lcudnn -lcudnn_graph -lcudnn_ops)
  [ "$kernels/$name.so" -nt "$source" ] ||
    nvcc -shared -Xcompiler -fPIC -std=c++17 -arch="$arch" -I"$root/kernels" -o "$kernels/$name.so" \
      "$source" "${libraries[@]}" || echo "pack.sh: without $name" >&2
done
for name in conversions; do  # compared with the CPU device
  "$program" build-cpu "$root/tests/gpu/puzzles/$name.cu" "$kernels/$name.cpu.so" \
    --kernels "$root/kernels"
done
rm -rf "$kernels/.cache"
# Each holds the CUDA runtime: with a window that large only the first one counts.
tar -C "$kernels" -c . | zstd --quiet --long=27 -12 -T0 -o "$out/objects.tar.zst"
du -sh "$out" | cut -f1
exit $((failed > 0))
