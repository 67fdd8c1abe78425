// Layernorm by cuDNN's graph interface. Expected clean. Shapes for which it has no engine are
// refused.
#include <cudnn.h>

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "warpfuzz_kernel.hpp"

namespace {

using Descriptor = cudnnBackendDescriptor_t;

struct Failure {};
void check(cudnnStatus_t status) {
  if (status != CUDNN_STATUS_SUCCESS) throw Failure();
}

Descriptor make(cudnnBackendDescriptorType_t type) {
  Descriptor descriptor = nullptr;
  check(cudnnBackendCreateDescriptor(type, &descriptor));
  return descriptor;
}
template <class T>
void set(Descriptor descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         const std::vector<T>& values) {
  check(cudnnBackendSetAttribute(descriptor, name, type, static_cast<int64_t>(values.size()),
                                 values.data()));
}

Descriptor tensor(int64_t id, cudnnDataType_t type, int64_t rows, int64_t columns,
                  bool by_value = false) {
  const Descriptor t = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  set(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, std::vector{type});
  set<int64_t>(t, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, {rows, columns, 1, 1});
  set<int64_t>(t, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, {columns, 1, columns, columns});
  set<int64_t>(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {id});
  set<int64_t>(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, {16});
  if (by_value) {
    set(t, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, std::vector<char>{1});
  }
  check(cudnnBackendFinalize(t));
  return t;
}

enum Id : int64_t { x_id = 1, weight_id, bias_id, eps_id, y_id };

// Of one shape and types; engines are made for them.
class Plan {
 public:
  Plan(cudnnHandle_t handle, cudnnDataType_t type, cudnnDataType_t weights, int64_t rows,
       int64_t columns) {
    const Descriptor norm = make(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
    set(norm, CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE,
        std::vector{CUDNN_LAYER_NORM});
    set(norm, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE,
        std::vector{CUDNN_NORM_FWD_INFERENCE});
    const auto operand = [&](cudnnBackendAttributeName_t name, Descriptor t) {
      set(norm, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::vector{t});
    };
    operand(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, tensor(x_id, type, rows, columns));
    operand(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, tensor(weight_id, weights, 1, columns));
    operand(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, tensor(bias_id, weights, 1, columns));
    operand(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC,
            tensor(eps_id, CUDNN_DATA_FLOAT, 1, 1, true));
    operand(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, tensor(y_id, type, rows, columns));
    check(cudnnBackendFinalize(norm));

    const Descriptor graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, std::vector{norm});
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, std::vector{handle});
    check(cudnnBackendFinalize(graph));

    const Descriptor heuristics = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR,
        std::vector{graph});
    set(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE,
        std::vector{CUDNN_HEUR_MODE_A});
    check(cudnnBackendFinalize(heuristics));
    Descriptor engine = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    int64_t found = 0;
    check(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                   CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &found, &engine));
    if (found < 1) throw Failure();

    plan_ = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    set(plan_, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, std::vector{handle});
    set(plan_, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR,
        std::vector{engine});
    check(cudnnBackendFinalize(plan_));
    int64_t bytes = 0, count = 0;
    check(cudnnBackendGetAttribute(plan_, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                   CUDNN_TYPE_INT64, 1, &count, &bytes));
    if (bytes > 0 && cudaMalloc(&workspace_, static_cast<size_t>(bytes)) != cudaSuccess) {
      throw Failure();
    }
  }

  void run(cudnnHandle_t handle, const wf::Call& call, float eps) const {
    const Descriptor pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set<int64_t>(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
                 {x_id, weight_id, bias_id, eps_id, y_id});
    set<void*>(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
               {call.input(0).data<void>(), call.input(1).data<void>(), call.input(2).data<void>(),
                &eps, call.output(0).data<void>()});
    set<void*>(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, {workspace_});
    check(cudnnBackendFinalize(pack));
    const cudnnStatus_t status = cudnnBackendExecute(handle, plan_, pack);
    cudnnBackendDestroyDescriptor(pack);
    check(status);
  }

 private:
  Descriptor plan_ = nullptr;
  void* workspace_ = nullptr;
};

cudnnDataType_t type_of(const wf::Tensor& tensor) {
  if (tensor.is<float>()) return CUDNN_DATA_FLOAT;
  return tensor.is<__half>() ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
}

}  // namespace

WARPFUZZ_KERNEL(
    "T == U && x_contiguous && weight_contiguous && bias_contiguous && y_contiguous && "
    "x_alignment >= 16 && weight_alignment >= 16 && bias_alignment >= 16 && y_alignment >= 16") {
  using Key = std::tuple<cudnnDataType_t, cudnnDataType_t, int64_t, int64_t>;
  static cudnnHandle_t handle = nullptr;
  static std::map<Key, std::unique_ptr<Plan>> plans;
  const auto x = call.input(0), weight = call.input(1), y = call.output(0);
  if (y.size() == 0) return WF_OK;
  try {
    if (handle == nullptr) check(cudnnCreate(&handle));
    check(cudnnSetStream(handle, call.stream()));
    const Key key = {type_of(x), type_of(weight), x.extent(0), x.extent(1)};
    auto found = plans.find(key);
    if (found == plans.end()) {
      std::unique_ptr<Plan> made;
      try {
        made =
            std::make_unique<Plan>(handle, type_of(x), type_of(weight), x.extent(0), x.extent(1));
      } catch (const Failure&) {  // no engine
      }
      found = plans.emplace(key, std::move(made)).first;
    }
    if (found->second == nullptr) return WF_UNSUPPORTED;
    found->second->run(handle, call, static_cast<float>(call.real("eps")));
    return WF_OK;
  } catch (const Failure&) {
    return WF_ERROR;
  }
}
