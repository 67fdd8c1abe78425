#!/usr/bin/env bash
# Compiles the correct programs of tests/programs with nvcc into one directory, which a machine with a
# GPU and a driver needs nothing but: run.sh in it runs them all. Each checks itself and ends with
# "<name>: 0 failed", as on the CPU device (tests/program_test.cc).
#   tests/gpu/programs.sh <output directory> [<architecture>] [<name>...]
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:?usage: tests/gpu/programs.sh <output directory> [<architecture>] [<name>...]}
arch=${2:-sm_90}
command -v nvcc > /dev/null || { echo "programs.sh: nvcc is not on PATH" >&2; exit 3; }

names=("${@:3}")
if ((${#names[@]} == 0)); then
  for source in "$root"/tests/programs/*.cu; do
    [[ $source == *faults.cu ]] || names+=("$(basename "$source" .cu)")
  done
fi
mkdir -p "$out"
for name in "${names[@]}"; do
  nvcc -arch="$arch" -std=c++17 --extended-lambda -w -o "$out/$name" "$root/tests/programs/$name.cu"
done
cat > "$out/run.sh" << 'RUN'
#!/usr/bin/env bash
# Prints what the programs print; exit code 1 if one of them fails or does not end within 20 seconds.
cd "$(dirname "$0")" && failed=0
for program in $(find . -maxdepth 1 -type f -perm -u+x ! -name run.sh | sort); do
  timeout 20 "$program" || { echo "$program: exit code $?"; failed=1; }
done
exit $failed
RUN
chmod +x "$out/run.sh"
du -sh "$out" | cut -f1
