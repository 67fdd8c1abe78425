// On the CPU device cuda::std is std: device code is host code. Each <cuda/std/...> adds one header
// of libstdc++.
#pragma once

#include <utility>

namespace cuda {
namespace std {
using namespace ::std;
}  // namespace std
}  // namespace cuda
