// The asynchronous copies of one thread; nvcuda::experimental::pipeline is not here.
#pragma once

#include "cuda_pipeline_primitives.h"
