#!/usr/bin/env bash
# Everything that needs a GPU, in one go: correctness of the device, throughput against the bare loop,
# coverage-guided search, several workers, faults. Prints one line per result; the last line is the
# summary. Runs from a directory that pack.sh made:
#   check.sh [quick|full] [section ...]
# Sections: device conversions bench bench_command huge coverage workers faults modules lines sanitizer
# search kernels libraries clean certify campaign.
# Quick takes at most 75 seconds for search (nine minutes in full), four minutes for kernels, fourteen
# for clean and seven for all others.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
size=${1:-quick}
shift || true
sections=${*:-device conversions bench bench_command huge coverage workers faults modules lines sanitizer search kernels}
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export WARPFUZZ_ROOT=$here
check=$here/bin/gpu_check
kernels=$here/objects
ok=0
bad=0
[ -d "$kernels" ] ||
  { mkdir "$kernels" && "$here/bin/zstd" -dc --long=27 "$here/objects.tar.zst" | tar -C "$kernels" -x; }

if [ "$size" = full ]; then
  cases=200000 limit=20 worker_seconds=10 search_limit=120 unguided_limit=430 search_seeds=2
else
  cases=20000 limit=3 worker_seconds=4 search_limit=25 unguided_limit=50 search_seeds=1
fi

run() {  # expected exit code 0
  timeout --signal=KILL 300 "$check" "$@"
  local code=$?
  if [ $code -eq 0 ]; then ok=$((ok + 1))
  else bad=$((bad + 1)); echo "FAILED code=$code: gpu_check $*"; fi
}

device() {
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2> /dev/null
  "$check" check --op relu --kernel "$kernels/relu.so" --name relu --cases 200 || {
    echo "the device does not work: the rest would fail too"
    exit 1
  }
}

conversions() {
  run compare --op relu --kernel "$kernels/conversions.so" --other "$kernels/conversions.cpu.so" \
    --name conversions --cases $cases --seconds "$limit"
}

bench() {
  run bench --op softmax --kernel "$kernels/softmax.so" --other "$kernels/softmax.plain.so" \
    --threads 8
}

# `warpfuzz bench` itself, where pack.sh found it built.
bench_command() {
  local warpfuzz=$here/bin/warpfuzz row op against
  [ -x "$warpfuzz" ] || { echo "not packed: build the target warpfuzz"; return; }
  for row in "softmax softmax" "relu relu_vectorized"; do
    read -r op against <<< "$row"
    if timeout --signal=KILL 300 "$warpfuzz" bench "$op" --kernel "$kernels/$op.plain.so" \
      --against "$kernels/$against.so"; then ok=$((ok + 1))
    else bad=$((bad + 1)); echo "FAILED: warpfuzz bench $op against $against"; fi
  done
}

coverage() {
  for name in relu relu_vectorized softmax; do
    run bench-coverage --kernel "$kernels/$name.so" --other "$kernels/$name.plain.so" --name "$name"
    run bench-coverage --kernel "$kernels/$name.blocks.so" --other "$kernels/$name.plain.so" \
      --name "$name-blocks-only"
  done
}

workers() {
  for n in "1 1" "1 8" "2 8" "2 4" "4 4" "4 2" "8 1" "8 2"; do
    run workers --op softmax --kernel "$kernels/softmax.so" --workers "${n% *}" --threads "${n#* }" \
      --seconds "$worker_seconds"
  done
  run workers --op softmax --kernel "$kernels/softmax.so" --workers 8 --seconds "$worker_seconds" \
    --mps false
}

faults() {
  # Each ends its process; the next process finds the device in order.
  run check --op relu --kernel "$kernels/illegal_now_and_then.so" --name illegal_now_and_then \
    --cases 5000 --seconds 30 --expect RUN-01
  run check --op relu --kernel "$kernels/never_ends.so" --name never_ends --cases 500 \
    --seconds 30 --expect RUN-02
  run check --op relu --kernel "$kernels/other_stream.so" --name other_stream --cases 500 \
    --seconds 5 --expect RES-01
  run check --op relu --kernel "$kernels/relu.so" --name relu_afterwards --cases 500
}

# A campaign on a kernel that loses the device about every 1,000 cases, and with it that of the three
# other workers: it goes on to its end and keeps the finding, which says what the device said.
campaign() {
  local warpfuzz=$here/bin/warpfuzz seconds=${CAMPAIGN_SECONDS:-600} work text
  work=$(mktemp -d) text=${OUT:-$here}/campaign.txt
  [ -x "$warpfuzz" ] || { echo "not packed: build the target warpfuzz"; return; }
  timeout --signal=KILL $((seconds + 60)) "$warpfuzz" fuzz relu \
    --kernel "$kernels/illegal_now_and_then.so" --device cuda --workers 4 --keep-going \
    --time "${seconds}s" --work "$work" > "$text" 2>&1
  local code=$? finding=$work/findings/RUN-01-relu-float32-float32-bounds.wfr
  grep -v 'trying its case alone' "$text" | tail -n 25
  expect campaign_finding 0 "illegal address" "$warpfuzz" show "$finding"
  if [ $code -eq 1 ]; then ok=$((ok + 1)); else bad=$((bad + 1)); echo "FAILED campaign: code $code"; fi
}

# One line of the result: a command's exit code, and patterns that its output must hold, one a line.
expect() {  # name, exit code, patterns of grep -E, command...
  local name=$1 code=$2 patterns=$3 output actual pattern missing="" shown=""
  shift 3
  output=$(timeout --signal=KILL 120 "$@" 2>&1)
  actual=$?
  while IFS= read -r pattern; do
    if grep -qE -- "$pattern" <<< "$output"; then shown=$(grep -E -m1 -- "$pattern" <<< "$output")
    else missing=$pattern; fi
  done <<< "$patterns"
  if [ $actual -eq "$code" ] && [ -z "$missing" ]; then
    ok=$((ok + 1))
    echo "$name OK:$shown"
  else
    bad=$((bad + 1))
    echo "FAILED $name: exit code $actual, expected $code and '$missing':"
    tail -n 25 <<< "$output"
  fi
}

# PTX and cubin kernels through the command.
modules() {
  local warpfuzz=$here/bin/warpfuzz work
  [ -x "$warpfuzz" ] || { echo "not packed: build the target warpfuzz"; return; }
  work=$(mktemp -d)
  local fuzz=("$warpfuzz" fuzz --device cuda --seed 1 --time 6s)
  expect ptx_correct 0 "no finding|0 findings|runs" "${fuzz[@]}" relu --kernel "$here/kernels/ptx/relu_vec4.json" --work "$work/a"
  expect ptx_softmax 0 "no finding|0 findings|runs" "${fuzz[@]}" softmax --kernel "$here/kernels/ptx/softmax_rows.json" --work "$work/b"
  expect cubin_softmax 0 "no finding|0 findings|runs" "${fuzz[@]}" softmax --kernel "$here/kernels/ptx/softmax_rows_cubin.json" --work "$work/c"
  expect ptx_faulty 1 "^EXC-01" "${fuzz[@]}" relu --kernel "$here/kernels/ptx/relu_drops_nan.json" --work "$work/d"
  local finding=$work/d/findings/EXC-01-relu-float32-float32-lost.wfr
  expect ptx_replay 1 "the same gate, outputs the same bits" "$warpfuzz" replay "$finding"
  expect ptx_minimize 0 "signature   EXC-01" "$warpfuzz" minimize "$finding" --seconds 2
  expect ptx_mended 0 "passes now" "$warpfuzz" replay "$finding" --kernel "$here/kernels/ptx/relu_vec4.json"
  sed 's/int32_t/int64_t/' "$here/kernels/ptx/relu_vec4.json" > "$here/kernels/ptx/bad_type.json"
  expect ptx_bad_type 2 "arguments\[2\].type: found int64_t of 8 bytes, expected int32_t" \
    "${fuzz[@]}" relu --kernel "$here/kernels/ptx/bad_type.json" --work "$work/e"
  sed 's/"entry": "/&no_/' "$here/kernels/ptx/softmax_rows_cubin.json" > "$here/kernels/ptx/bad_entry.json"
  expect cubin_bad_entry 2 "expected an entry of .*softmax_rows.cubin: softmax_rows" \
    "${fuzz[@]}" softmax --kernel "$here/kernels/ptx/bad_entry.json" --work "$work/f"
  expect ptx_bench 0 "speed-up of|us" "$warpfuzz" bench softmax --kernel "$here/kernels/ptx/softmax_rows.json" --axes m=512,n=512
  rm -rf "$work"
}

# Lines of device code that a corpus reaches.
lines() {
  local warpfuzz=$here/bin/warpfuzz work
  [ -x "$warpfuzz" ] || { echo "not packed: build the target warpfuzz"; return; }
  work=$(mktemp -d)
  local coverage=("$warpfuzz" coverage --device cuda --seconds 4)
  expect lines_ptx 0 "relu_vec4.cu: ([0-9]+) of \1 device lines and ([0-9]+) of \2 branches" \
    "${coverage[@]}" relu --kernel "$here/kernels/ptx/relu_vec4.json" --work "$work/a" --html "$work/a.html"
  expect lines_ptx_softmax 0 "softmax_rows.cu: [0-9]+ of [0-9]+ device lines" \
    "${coverage[@]}" softmax --kernel "$here/kernels/ptx/softmax_rows.json" --work "$work/b"
  expect lines_so 0 "softmax.cu: [0-9]+ of [0-9]+ device lines" \
    "${coverage[@]}" softmax --kernel "$kernels/softmax.so" --work "$work/c"
  expect lines_never 0 "not reached" \
    "${coverage[@]}" relu --kernel "$kernels/puzzle_6.so" --work "$work/d"
  expect lines_cubin 2 "a cubin cannot be instrumented" \
    "${coverage[@]}" softmax --kernel "$here/kernels/ptx/softmax_rows_cubin.json" --work "$work/e"
  rm -rf "$work"
}

# NVIDIA's compute-sanitizer on stored findings, one of each kind, and on correct kernels.
sanitizer() {
  local warpfuzz=$here/bin/warpfuzz tool name op gate text
  [ -x "$warpfuzz" ] || { echo "not packed: build the target warpfuzz"; return; }
  while read -r tool name op gate text; do
    [ "$gate" = - ] && gate="[A-Z]+-0[1-3]"
    local before=$bad
    expect "${tool}_$name" 1 "^$gate "$'\n'"$text" "$warpfuzz" replay "$here/findings/$name.wfr" \
      --kernel "$kernels/$name.plain.so" --device cuda --sanitizer "$tool"
    [ "$bad" = "$before" ] || { # what the tool itself says
      PATH=$PATH:/usr/local/cuda/bin timeout --signal=KILL 120 compute-sanitizer --tool "$tool" \
        "$warpfuzz" call "$here/findings/$name.wfr" --object "$kernels/$name.plain.so" 2>&1 | head -n 30
    }
  done < "$here/sanitizer_rows.txt"
  for tool in memcheck racecheck initcheck synccheck; do
    expect "${tool}_clean_softmax" 0 "passes now" "$warpfuzz" replay \
      "$here/findings/softmax_missing_barrier.wfr" --kernel "$kernels/softmax.plain.so" \
      --device cuda --sanitizer "$tool"
  done
  expect memcheck_clean_ptx 0 "passes now" "$warpfuzz" replay \
    "$here/findings/softmax_missing_barrier.wfr" --kernel "$here/kernels/ptx/softmax_rows.json" \
    --device cuda --sanitizer memcheck
}

# With device coverage until found; then without it, 20 times as many runs or until the limit. The
# shallowest puzzle falls to the constants of the code alone: it is searched without them.
search_puzzle() {  # number, seed
  local line runs constants=(--constants "43,22,5,1")
  [ "$1" = 2 ] && constants=()
  local command=(timeout --signal=KILL 600 "$check" search --op relu --kernel "$kernels/puzzle_$1.so"
    --name "puzzle_$1" --seed "$2" --tier 3 --size-class 2 "${constants[@]}")
  line=$("${command[@]}" --cases 100000000 --seconds "$search_limit" 2> /dev/null)
  echo "$line"
  runs=$(sed -n 's/.* FOUND runs=\([0-9]*\).*/\1/p' <<< "$line")
  "${command[@]}" --device-coverage false --cases $((20 * ${runs:-50000})) \
    --seconds "$unguided_limit" 2> /dev/null
}

# All puzzles and seeds at once, under the multi-process service.
search() {
  local results n seed
  results=$(mktemp -d)
  export CUDA_MPS_PIPE_DIRECTORY=$results/pipe CUDA_MPS_LOG_DIRECTORY=$results/log
  mkdir "$results/pipe" "$results/log"
  nvidia-cuda-mps-control -d < /dev/null > /dev/null 2>&1
  for n in 2 3 4 5 6; do
    for ((seed = 1; seed <= search_seeds; ++seed)); do
      search_puzzle $n $seed > "$results/$n.$seed.txt" &
    done
  done
  wait
  echo quit | nvidia-cuda-mps-control > /dev/null 2>&1
  unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
  cat "$results"/*.txt
  for n in "$results"/*.txt; do
    if grep -q "device_coverage=true FOUND" "$n"; then ok=$((ok + 1))
    else bad=$((bad + 1)); echo "FAILED search ${n##*/}: not found with device coverage"; fi
  done
  rm -rf "$results"
}

kernels() {
  while read -r name op expected tier source; do
    [ -e "$kernels/$name.so" ] || continue
    run check --op "$op" --kernel "$kernels/$name.so" --name "$name" --expect "$expected" \
      --tier "$tier" --size-class 3 --cases $cases --seconds "$limit"
  done < "$here/kernels.txt"
}

# Each correct kernel in eight processes, all tiers.
clean() {
  while read -r name op expected tier source; do
    [[ $expected == clean && -e $kernels/$name.so ]] || continue
    run clean --op "$op" --kernel "$kernels/$name.so" --name "$name" --workers 8 --tier 3 \
      --size-class 0 --seconds "${CLEAN_SECONDS:-20}"
  done < "$here/kernels.txt"
}

# cuBLAS and cuDNN: clean where they keep to the contract, caught where they compute with less.
libraries() {
  local name op expected directory
  for directory in $(find /usr /opt -name 'libcublas.so.*' -o -name 'libcudnn.so.*' 2> /dev/null |
    xargs -r -n 1 dirname | sort -u); do
    LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$directory
  done
  while read -r name op expected; do
    run check --op "$op" --kernel "$kernels/$name.so" --name "$name" --expect "$expected" \
      --tier 2 --size-class 2 --cases $((10 * cases)) --seconds 15
  done << 'EOF'
cublas_matmul matmul clean
cublas_default matmul CMP-01,CMP-03,PRC-01,PRC-02,ORD-01,EXC-01
cublas_tf32 matmul PRC-01,PRC-02
cublas_half_sums matmul PRC-01,PRC-02
cudnn_softmax softmax CMP-01,CMP-03
cudnn_layernorm layernorm clean
EOF
}

# Calls of more than 2^31 elements: kernels that are right pass, one that counts rows in 16 bits is
# found. A law for each, so that the device's values are compared with the host's under all of them.
huge() {
  local warpfuzz=$here/bin/warpfuzz row op kernel dtype law expected code
  [ -x "$warpfuzz" ] || { echo "not packed: build the target warpfuzz"; return; }
  while read -r op kernel dtype law expected; do
    case $kernel in *.json) kernel=$here/kernels/ptx/$kernel ;; *) kernel=$kernels/$kernel.so ;; esac
    [ -e "$kernel" ] || { echo "not packed: $kernel"; continue; }
    timeout --signal=KILL 300 "$warpfuzz" huge "$op" --kernel "$kernel" --prebuilt "$kernels" \
      --dtype "$dtype" --law "$law"
    code=$?
    if [ $code -eq "$expected" ]; then ok=$((ok + 1))
    else bad=$((bad + 1)); echo "FAILED code=$code, expected $expected: warpfuzz huge $op $kernel"; fi
  done << 'EOF_ROWS'
relu relu T=bfloat16,U=bfloat16 log_uniform 0
relu relu T=float32,U=float32 outliers 0
relu relu_int32 T=float16,U=float16 normal 1
softmax softmax T=bfloat16,U=bfloat16 very_negative 0
layernorm layernorm T=float16,W=float16,U=float16 normal 0
sum sum T=float32,U=float32 uniform 0
matmul matmul T=float16,U=float16 normal 0
matmul matmul T=float32,U=float32 log_uniform 0
matmul matmul_tiled T=bfloat16,U=float32 outliers 0
matmul matmul_tf32_inputs T=float32,U=float32 normal 1
matmul matmul_stray_element T=float16,U=float32 normal 1
quantize_int8 quantize_int8 T=float16 normal 0
relu relu_vec4.json T=float32,U=float32 normal 0
relu relu_drops_nan.json T=float32,U=float32 normal 1
softmax softmax_rows_cubin.json T=float32,U=float32 normal 0
EOF_ROWS
}

# The calibration matrix on the GPU; races are seen there by what they change only.
certify() {
  local results=${OUT:-$here}
  "$here/bin/warpfuzz" certify --quick --device cuda --prebuilt "$kernels" --jobs 8 --time 20s \
    --json "$results/certify.json" > "$results/certify.txt" 2> "$results/certify.log"
  tail -n 12 "$results/certify.txt"
}

for section in $sections; do
  echo "== $section ($(date +%T))"
  "$section"
done
echo "summary ok=$ok bad=$bad"
[ $bad -eq 0 ]
