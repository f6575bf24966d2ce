#!/usr/bin/env bash
# Computes the results of the papers that napkin follows through its public commands and writes docs/reproduction.md:
# published, computed, difference. With --check only says where the file differs from what comes out now.
# usage: scripts/reproduce.sh [--check] [PROGRAM]     PROGRAM is build/release/napkin if not given
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

check=
[[ ${1:-} == --check ]] && { check=yes; shift; }
program=$(realpath "${1:-build/release/napkin}")
[[ -x $program ]] || fail "$program is not there: build it first, or name the program"
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp scripts/reproduction/head.md "$work/page.md"

# analyze NAME ARGUMENTS...: runs `napkin analyze` and keeps its JSON as NAME.
analyze() {
  local name=$1
  shift
  "$program" analyze "$@" --format json >"$work/$name.json" || fail "napkin analyze $* failed"
}

# pick FORMAT UNIT NAME:PATH...: numbers of reports, added up, in a unit. A step of a path is a key, an index, or
# key=value,... for the element of a list that has it.
pick() {
  python3 - "$work" "$@" <<'PICK'
import json, sys
folder, form, unit, *places = sys.argv[1:]
total = 0
for place in places:
    name, path = place.split(":")
    at = json.load(open(f"{folder}/{name}.json"))
    for step in path.split("/"):
        if "=" in step:
            wanted = dict(pair.split("=") for pair in step.split(","))
            at = next(one for one in at if all(str(one[key]) == value for key, value in wanted.items()))
        else:
            at = at[int(step)] if isinstance(at, list) else at[step]
    total += at
print(form % (total / float(unit)))
PICK
}

# row WHAT PUBLISHED COMPUTED [WHY]: both with the same digits. What differs needs a sentence.
notes=()
row() {
  local what=$1 published=$2 computed=$3 why=${4:-} difference=none
  if [[ $published != "$computed" ]]; then
    [[ $why ]] || fail "$what: published $published, computed $computed, and no word why"
    difference=$(python3 -c 'import sys; a, b = map(float, sys.argv[1:]); print("%+.1f %%" % (100 * (b - a) / a))' \
      "$published" "$computed")
  fi
  [[ $why ]] && notes+=("- **$what.** $why")
  printf '| %s | %s | %s | %s |\n' "$what" "$published" "$computed" "$difference" >>"$work/page.md"
}
section() { printf '\n## %s\n\n| what | published | computed | difference |\n| --- | --- | --- | --- |\n' "$1" >>"$work/page.md"; }

tiles='group a 128, c 128, stream b 64 at smem'
level=kernels/0/closed_form
configuration=kernels/0/configuration
registers=(--set-target 'levels.reg.capacity=1 MiB' --set-target 'levels.reg.usable=128 KiB') # nothing is refused for them

section 'Transfers'
analyze matmul examples/matmul.nap --target two-level --set-target M=10000 --model ideal
row 'matrix product of 4096 cubed, 10000 values: best whole piece' 99 "$(pick %d 1 matmul:$level/whole/pieces/g_a)"
row 'its transfers, in 1e9 values, pieces counted as ratios' 1.40505 "$(pick %.5f 1e9 matmul:$level/whole/values)"
row 'the bound, in 1e9 values' 1.39117 "$(pick %.5f 1e9 matmul:kernels/0/lower_bound/transfer_values)"
h100=(examples/matmul.nap --target h100-sxm5 --model ideal --partition "$tiles" --set-target 'compute.tensor.datasheet.f16=989 TFLOP/s')
analyze outer "${h100[@]}" --set-target 'levels.smem.bandwidth=3.35 TB/s'
row 'H100, 989 TFLOP/s, 3.35 TB/s from device memory: least room, in KiB' 681 "$(pick %.0f 1024 outer:$level/balance/least_room_bytes)"
row 'least contracted length' 295 "$(pick %.0f 1 outer:$level/balance/least_lengths/axis=b/in_any_room)"
analyze inner "${h100[@]}" --set-target 'levels.smem.bandwidth=12 TB/s' --set-target 'levels.smem.capacity=256 KiB' --set-target 'levels.smem.usable=256 KiB'
row '6.0e12 values/s into cores: least contracted length' 82 "$(pick %.0f 1 inner:$level/balance/least_lengths/axis=b/in_any_room)"
row 'the same with 256 KiB of outputs' 151 "$(pick %.0f 1 inner:$level/balance/least_lengths/axis=b/in_this_room)"

section 'Number formats and clusters'
large=(--set a=262144 --set b=262144 --set c=262144)
h800=(--target h100-pcie --set-target 'levels.smem.bandwidth=2.04 TB/s' --set-target 'levels.gmem.capacity=1 TiB') # arrays of any size
attention=(examples/attention.nap --model ideal --partition 'group q 128, stream x 64 at smem' --set x=1048576)
analyze large_matmul examples/matmul.nap --model ideal --partition "$tiles" "${large[@]}" "${h800[@]}"
analyze long_attention "${attention[@]}" "${h800[@]}"
row 'half the bytes a value: attention moves so many times faster' 4.0 "$(pick %.1f 1 long_attention:$level/gains/half_the_bytes)"
row 'a large matrix product' 2.83 "$(pick %.2f 1 large_matmul:$level/gains/half_the_bytes)"
for count in 2 4; do
  declare -A square=([2]=0.110 [4]=0.115) broadcast=([2]=0.188 [4]=0.173)
  row "clusters of $count on an H800, beta 1/2: share of the time saved" "${square[$count]}" "$(pick %.3f 1 large_matmul:$level/gains/siblings/count=$count/saved_by_term/0)"
  row "clusters of $count, beta 1" "${broadcast[$count]}" "$(pick %.3f 1 long_attention:$level/gains/siblings/count=$count/saved_by_term/0)"
done

section 'Attention on Hopper, FP8 queries and keys, FP16 values'
analyze hopper examples/attention.nap --dtype Q=f8e4m3 --dtype K=f8e4m3 --target h100-sxm5 --model ideal "${registers[@]}" \
  --partition 'group q 384, stream x 64 at smem; group q 32 at reg'
within=$configuration/pipelinings/overlap=within_team
row 'shared memory of a block, in KiB' 48 "$(pick %d 1024 hopper:$configuration/shared_block_bytes)"
row 'and of a warpgroup' 48 "$(pick %d 1024 hopper:$configuration/shared_team_bytes)"
row 'registers of a warpgroup, in KiB' 74.75 "$(pick %.2f 1024 hopper:$within/team_register_bytes)" \
  'The paper does not say how the 74.75 KiB split into variables. This count has the carried O, the scores S of the next iteration beside P of this one (intra-warpgroup overlap), steps of 32 along d and of 8 along the columns of O, and three scalars, all as wide as the widest input.'
row 'registers of a thread, in bytes' 598 "$(pick %d 1 hopper:$within/thread_register_bytes)"
row 'warpgroups by shared memory' 3.7 "$(pick %.1f 1 hopper:$within/occupancy/by_bytes/teams_by_shared)"
row 'warpgroups by registers' 3.4 "$(pick %.1f 1 hopper:$within/occupancy/by_bytes/teams_by_registers)"
row 'warpgroups' 3 "$(pick %d 1 hopper:$within/occupancy/by_bytes/teams)"
row 'rows of queries' 384 "$(pick %d 1 hopper:$configuration/bandwidth/rows)"
row 'clocks a row and step: QK' 2 "$(pick %d 1 hopper:$configuration/clocks/column=S_sum/clocks_per_row)"
row 'exp' 4.06 "$(pick %.2f 1 hopper:$configuration/resources/on=sfu/clocks_per_row)"
row 'QK and PV' 6 "$(pick %d 1 hopper:$configuration/resources/on=tensor/clocks_per_row)"
row 'accumulate' 0.5 "$(pick %.1f 1 hopper:$configuration/clocks/column=O_sum,on=fma/clocks_per_row)"
row 'the bound, in TFLOP/s' 1319 "$(pick %.0f 1e12 hopper:$configuration/bandwidth/operations_per_s)"
row 'operations of a step, in us' 1.26 "$(pick %.2f 1e-6 hopper:$configuration/bandwidth/step_s)"
row 'transfers of a step, in us' 0.97 "$(pick %.2f 1e-6 hopper:$configuration/bandwidth/transfer_s)"
row 'least rows of queries' 295 "$(pick %.0f 1 hopper:$configuration/bandwidth/least_rows)"

section 'What the chip allocates'
analyze ampere examples/attention.nap --target a100-sxm4-40 --model ideal "${registers[@]}" \
  --partition 'group q 128, stream x 64 at smem; group q 32, stream d 32 at reg'
row 'Ampere with the same 598 bytes a thread: warps by bytes' 13.7 "$(pick %.1f 1 ampere:$within/occupancy/by_bytes/warps_by_registers)"
row 'whole warps' 13 "$(pick %d 1 ampere:$within/occupancy/by_bytes/warps)"
row 'warps as the chip allocates' 12 "$(pick %d 1 ampere:$within/occupancy/as_allocated/warps_by_these_bytes)" \
  'The chip allocates registers to whole warps in units of 256, each warp from one of four partitions, and three warps fit into each. The 13 warps of the paper cannot run.'
row 'warps of a kernel with 255 registers' 8 "$(pick %d 1 ampere:$within/occupancy/as_allocated/ladder/registers=255/warps)"
row 'warps of one with 157, up to 168' 12 "$(pick %d 1 ampere:$within/occupancy/as_allocated/ladder/registers=168/warps)"

section 'Overlap'
# The softmax takes 66 % more than its exponentials; what else lanes do is within those 66 %.
softmax=(--set-target 'compute.sfu.per_clock.f32=9.6385542 OP/clk' --set-target 'compute.fma.per_clock.f32=1000000 FLOP/clk'
  --set-target 'compute.fma.per_clock.f16=1000000 FLOP/clk')
analyze fp16 examples/attention.nap --target h100-sxm5 --model ideal "${softmax[@]}" --partition 'group q 256, stream x 96 at smem'
row 'FlashAttention-3, 66 % softmax overhead, FP16 within a warpgroup: share of the peak' 0.75 "$(pick %.2f 1 fp16:$within/utilization)" \
  'The computation assumes a softmax that takes 1.66 times as long as its exponentials. It runs beside the second contraction within a warpgroup, and beside both across warpgroups.'
analyze fp8 scripts/reproduction/attention_fp8.nap --target h100-sxm5 --model ideal "${softmax[@]}" --partition 'group q 256, stream x 224 at smem'
row 'FP8 across warpgroups' 0.60 "$(pick %.2f 1 fp8:$configuration/pipelinings/overlap=two_teams/utilization)"
analyze blackwell examples/attention.nap --target b200-sxm --model ideal --partition 'group q 128, stream x 128 at smem'
row "FlashAttention-4's tile of 128 cubed, clocks of the matrix units" 1024 "$(pick %.0f 1 blackwell:$configuration/resources/on=tensor/clocks)"
row 'of shared memory' 768 "$(pick %.0f 1 blackwell:$configuration/resources/on=shared/clocks)"
row 'of exponentials' 1024 "$(pick %.0f 1 blackwell:$configuration/clocks/column=p/clocks)"

section "FlashAttention's example: forward and backward, 64 x 16 heads of 1024 x 64, one head of it"
forward=(--target a100-sxm4-40 --objective transfers --set q=1024 --set x=1024 --set d=64)
analyze forward examples/attention.nap "${forward[@]}"
analyze backward examples/attention_backward.nap "${forward[@]}" --set h=1
why='The published numbers are measurements of 1024 heads, 40.3 GB and 4.4 GB, divided by 1024 here. They have a mask and dropout, which the diagrams lack, and tiles that are not the best by transfers.'
row 'standard attention, in MB' 39.4 "$(pick %.1f 1e6 forward:saved/apart_transfer_bytes backward:saved/apart_transfer_bytes)" "$why"
row 'fused, in MB' 4.3 "$(pick %.1f 1e6 forward:totals/transfer_bytes/gmem backward:totals/transfer_bytes/gmem)" \
  'See above. The measured kernel computes the scores once for all three gradients and adds up the gradient of queries in memory. The plan here computes the scores in two kernels.'

[[ ${#notes[@]} -gt 0 ]] && printf '\n' >>"$work/page.md" && printf '%s\n' "${notes[@]}" >>"$work/page.md"
if [[ $check ]]; then
  diff -u docs/reproduction.md "$work/page.md" || fail "docs/reproduction.md is not what the program computes: run scripts/reproduce.sh"
else
  cp "$work/page.md" docs/reproduction.md
fi
