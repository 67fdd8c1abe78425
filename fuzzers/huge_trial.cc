#include "fuzzers/huge_trial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include "fuzzers/installation.h"
#include "kernels/cuda/device_faults.h"
#include "reference/oracle.h"
#include "seeds/value_law.h"

namespace warpfuzz {
namespace {

constexpr size_t guard_bytes = size_t{64} << 10;
constexpr size_t grid_bytes = 256;
constexpr size_t reserve = size_t{512} << 20;  // what the runtime and the kernel take
constexpr std::chrono::seconds time_limit{60};
constexpr size_t shown_elements = 4;

double gibibytes(size_t bytes) { return static_cast<double>(bytes) / (size_t{1} << 30); }

// "y[3,17]", of element `inside` of a row.
std::string element_name(const TensorSpec& spec, const std::vector<int64_t>& shape, int64_t row,
                         size_t inside) {
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 1;) {
    index[i] = static_cast<int64_t>(inside) % shape[i];
    inside /= static_cast<size_t>(shape[i]);
  }
  index[0] = row;
  return fmt::format("{}[{}]", spec.name, fmt::join(index, ","));
}

std::string offence_text(const Offence& offence) {
  const auto number = [](double value) { return fmt::format("{:.9g}", value); };
  if (offence.kind == OffenceKind::non_finite) {
    return fmt::format("observed {}  must be {}", number(offence.observed),
                       number(offence.expected));
  }
  return fmt::format("observed {}  accepted [{}, {}]", number(offence.observed),
                     number(offence.low), number(offence.high));
}

}  // namespace

void HugeTrial::place(const Case& c) {
  const size_t axis = row_axis(*c.schema);
  rows_ = sampled_rows(c, axis, limits_);
  extent_ = c.axes[axis];
  size_ = 0;
  const auto next = [&](size_t bytes) {
    const size_t begin = (size_ + guard_bytes + grid_bytes - 1) / grid_bytes * grid_bytes;
    size_ = begin + bytes;
    return begin;
  };
  const auto add = [&](std::vector<Placed>& tensors, const std::vector<TensorSpec>& specs) {
    tensors.clear();
    for (const TensorSpec& spec : specs) {
      Placed& placed = tensors.emplace_back();
      placed.spec = &spec;
      placed.tensor.dtype = c.dtype(spec);
      placed.tensor.elements = 1;
      for (const int64_t extent : c.shape(spec)) placed.tensor.elements *= extent;
      placed.bytes = static_cast<size_t>(placed.tensor.elements) * info(placed.tensor.dtype).bytes;
      placed.begin = next(placed.bytes);
      placed.has_rows = !spec.axes.empty() && spec.axes.front() == axis;
    }
  };
  add(inputs_, c.schema->inputs);
  workspace_bytes_ = kernel_.workspace_bytes(c, arguments_.query(c));
  workspace_ = next(workspace_bytes_);
  add(outputs_, c.schema->outputs);
  size_ += guard_bytes;
}

void HugeTrial::copy_to_host(void* to, cuda::DevicePointer from, size_t bytes) const {
  const cuda::Driver& driver = session_.driver();
  driver.check(driver.copy_to_host(to, from, bytes, session_.stream()), "a copy from the device");
  driver.check(driver.stream_synchronize(session_.stream()), "a copy from the device");
}

void HugeTrial::make_inputs(const Case& c) {
  const cuda::Driver& driver = session_.driver();
  driver.check(driver.fill(block_, huge_poison, size_, session_.stream()), "a fill on the device");
  for (auto* tensors : {&inputs_, &outputs_}) {
    for (Placed& placed : *tensors) placed.tensor.data = block_ + placed.begin;
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Placed& placed = inputs_[i];
    if (placed.tensor.elements > limits_.host_elements) {
      placed.law = random_law_of(c, i);
      work_.fill(placed.tensor, *placed.law);
      continue;
    }
    placed.host = make_input(c, i);
    driver.check(driver.copy_to_device(placed.tensor.data, placed.host.data.data(), placed.bytes,
                                       session_.stream()),
                 "a copy to the device");
    driver.check(driver.stream_synchronize(session_.stream()), "a copy to the device");
  }
}

// What the oracle gets: the sampled rows, or all of an input that has none.
Tensor HugeTrial::rows_of_input(const Case& c, size_t input) const {
  const Placed& placed = inputs_[input];
  if (placed.law) return make_input_rows(c, input, rows_);
  if (!placed.has_rows) return placed.host;
  Tensor part = placed.host;
  const size_t bytes = placed.bytes / static_cast<size_t>(part.shape[0]);
  part.shape[0] = static_cast<int64_t>(rows_.size());
  for (size_t i = 0; i < rows_.size(); ++i) {
    std::memcpy(part.data.data() + i * bytes,
                placed.host.data.data() + static_cast<size_t>(rows_[i]) * bytes, bytes);
  }
  part.data.resize(rows_.size() * bytes);
  return part;
}

Tensor HugeTrial::rows_on_device(const Placed& placed) const {
  Tensor part;
  part.dtype = placed.tensor.dtype;
  part.shape = {static_cast<int64_t>(rows_.size()), placed.tensor.elements / extent_};
  const size_t bytes = static_cast<size_t>(part.shape[1]) * info(part.dtype).bytes;
  part.data.resize(rows_.size() * bytes);
  for (size_t i = 0; i < rows_.size(); ++i) {
    copy_to_host(part.data.data() + i * bytes,
                 placed.tensor.data + static_cast<size_t>(rows_[i]) * bytes, bytes);
  }
  return part;
}

// Verdicts rest on the device's values being the host's: compared in each row that will be judged.
void HugeTrial::check_values(const Case& c) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].law || rows_on_device(inputs_[i]).data == rows_of_input(c, i).data) continue;
    throw EnvironmentError(fmt::format(
        "the device makes other {} values of {} than the host; nothing can be judged with them",
        name(inputs_[i].law->law), name(inputs_[i].tensor.dtype)));
  }
}

void HugeTrial::call_kernel(const Case& c, HugeVerdict& verdict) {
  std::vector<cuda::DevicePointer> in, out;
  for (const Placed& placed : inputs_) in.push_back(placed.tensor.data);
  for (const Placed& placed : outputs_) out.push_back(placed.tensor.data);
  const WfCall& call = arguments_.build(
      c, in, out, {workspace_bytes_ > 0 ? block_ + workspace_ : 0, workspace_bytes_}, session_);
  WfStatus status = WF_ERROR;
  std::string message;
  kernel_.begin(call.stream);
  try {
    status = kernel_.call(c, call);
  } catch (const std::exception& error) {
    message = fmt::format("it throws: {}", error.what());
  } catch (...) {
    message = "it throws an exception";
  }
  const WfCudaReport report = kernel_.end().value_or(WfCudaReport{});
  if (message.empty()) message = report.message;

  cuda::Status ended = session_.wait(time_limit);
  if (ended == cuda::success) ended = session_.driver().context_synchronize();
  if (ended != cuda::success) {
    verdict.device_lost = true;
    const std::optional<Fault> fault = cuda::device_fault(ended);
    if (ended == cuda::not_ready) {
      return verdict.find("RUN-02",
                          fmt::format("the kernel does not end within {} s", time_limit.count()));
    }
    return verdict.find("RUN-01", fault
                                      ? fault->message
                                      : "the device reports: " + session_.driver().describe(ended));
  }
  const bool failed = status == WF_ERROR || report.failed_launches > 0;
  if (failed && message == "out of memory") {
    return verdict.leave_out("the kernel's own memory does not fit beside its tensors");
  }
  if (report.failed_launches > 0) {
    return verdict.find(
        "RUN-01", fmt::format("a launch fails{}: {}", status == WF_OK ? ", and nobody notices" : "",
                              message));
  }
  if (status == WF_ERROR) {
    return verdict.find("RUN-01",
                        "the kernel reports an error" + (message.empty() ? "" : ": " + message));
  }
  if (status == WF_UNSUPPORTED) {
    verdict.find("CMP-03", "the kernel rejects a call that its preconditions admit");
  }
}

// Every element on the device; what is not right there goes to the oracle with the sampled rows.
void HugeTrial::judge_product(const Case& c) {
  product_.reset();
  if (product_work_ == nullptr) return;
  product_ = HugeProductCheck::judge(
      *product_work_, c, std::array{inputs_[0].tensor, inputs_[1].tensor}, outputs_[0].tensor);
  if (!product_) return;
  const std::vector<int64_t> rows =
      product_->doubtful_rows(spread_rows(c, row_axis(*c.schema), limits_));
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  std::sort(rows_.begin(), rows_.end());
  rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
  check_values(c);
}

void HugeTrial::judge(const Case& c, HugeVerdict& verdict) const {
  const Case part = call_of_rows(c, row_axis(*c.schema), rows_.size());
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < inputs_.size(); ++i) inputs.push_back(rows_of_input(c, i));
  const Oracle oracle(part, inputs);
  verdict.rows = rows_.size();
  verdict.every_element = product_.has_value();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Placed& placed = outputs_[i];
    const Tensor observed = rows_on_device(placed);
    const Comparison comparison = oracle.compare(i, observed);
    if (product_) product_->confirm(c, rows_, inputs, oracle, observed);
    const HugeProductCheck::Count all =
        product_ ? product_->count(rows_) : HugeProductCheck::Count{};
    verdict.elements += product_ ? all.elements : static_cast<size_t>(observed.size());
    verdict.undecided += comparison.undecided + all.undecided;
    // A marginal one would need other values to decide.
    std::vector<const Offence*> offences;
    for (const Offence& offence : comparison.offences) {
      if (offence.strength != OffenceStrength::marginal) offences.push_back(&offence);
    }
    if (offences.empty()) {
      verdict.undecided += comparison.offending.size();
      continue;
    }
    if (verdict.outcome == HugeOutcome::finding) continue;
    const auto length = static_cast<size_t>(observed.shape[1]);
    size_t wrong_rows = 0, last = SIZE_MAX;
    for (const size_t element : comparison.offending) {
      wrong_rows += element / length != last;
      last = element / length;
    }
    const int64_t first = rows_[offences.front()->element / length];
    std::vector<std::string> details = {
        product_
            ? fmt::format(
                  "where       output {}: {} elements in {} of its {} rows are wrong, the first is "
                  "in row {}",
                  placed.spec->name, all.outside, all.rows_outside, extent_, first)
            : fmt::format(
                  "where       output {}: {} of the {} rows judged are wrong, the first is row {}",
                  placed.spec->name, wrong_rows, rows_.size(), first)};
    for (size_t k = 0; k < std::min(shown_elements, offences.size()); ++k) {
      const size_t element = offences[k]->element;
      details.push_back(element_name(*placed.spec, c.shape(*placed.spec), rows_[element / length],
                                     element % length) +
                        "  " + offence_text(*offences[k]));
    }
    verdict.find("CMP-03", "wrong on this shape", std::move(details));
  }
  if (verdict.outcome == HugeOutcome::pass && verdict.undecided == verdict.elements) {
    verdict.outcome = HugeOutcome::undecided;
    verdict.reason = "the oracle could judge no element";
  }
}

void HugeTrial::give_back() {
  if (block_ != 0) session_.driver().free(block_);
  block_ = 0;
}

HugeVerdict HugeTrial::run(const HugeCall& call) {
  give_back();
  HugeVerdict verdict;
  verdict.call = call;
  const Case& c = call.c;
  if (std::string reason = obstacle(c, row_axis(*c.schema), limits_); !reason.empty()) {
    verdict.leave_out(std::move(reason));
    return verdict;
  }
  place(c);
  size_t free = 0, total = 0;
  session_.driver().check(session_.driver().memory_info(&free, &total),
                          "the device does not tell its memory");
  if (size_ + reserve > free) {
    verdict.leave_out(fmt::format("needs {:.1f} GiB of the device's memory, {:.1f} GiB are free",
                                  gibibytes(size_ + reserve), gibibytes(free)));
    return verdict;
  }
  if (session_.driver().allocate(&block_, size_) != cuda::success) {
    block_ = 0;
    verdict.leave_out(
        fmt::format("the device does not give {:.1f} GiB in one piece", gibibytes(size_)));
    return verdict;
  }
  make_inputs(c);
  check_values(c);
  call_kernel(c, verdict);
  if (verdict.outcome == HugeOutcome::pass) check_memory(verdict);
  if (verdict.outcome == HugeOutcome::pass) {
    judge_product(c);
    judge(c, verdict);
    check_integers_written(c, verdict);
  }
  return verdict;
}

}  // namespace warpfuzz
