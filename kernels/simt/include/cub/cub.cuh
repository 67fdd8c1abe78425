// The collectives of CUB for warps and blocks; see wf_cub_common.cuh. Not here: the device-wide
// algorithms, and the collectives that the headers below do not name.
#pragma once

#include "block/block_load.cuh"
#include "block/block_radix_sort.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
#include "warp/warp_reduce.cuh"
#include "warp/warp_scan.cuh"
