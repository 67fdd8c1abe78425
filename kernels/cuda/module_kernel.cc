#include "kernels/cuda/module_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/cuda/cubin.h"
#include "kernels/cuda/loaded_module.h"
#include "kernels/cuda/module_manifest.h"
#include "kernels/cuda/ptx/instrument.h"
#include "kernels/cuda/ptx/module.h"
#include "kernels/cuda/ptx/resources.h"
#include "kernels/device.h"

namespace warpfuzz::cuda {
namespace {

namespace fs = std::filesystem;

// What the runtime would say of the same launch.
constexpr const char* bad_configuration = "invalid configuration argument";

// What goes to the driver, and what is known of it.
struct Image {
  std::string text;
  std::string coverage_map;
  size_t counters = 0;
  bool stateless = false;
  std::vector<ptx::RefusedEntry> refused;
};

// Of the entries as they are; none where the module does not load, which its user will be told.
ptx::EntryRegisters registers_of(const Session& session, const std::string& text,
                                 const fs::path& file) {
  ptx::EntryRegisters registers;
  try {
    const LoadedModule plain(session, text, file);
    for (const ptx::Function& function : ptx::parse(text).functions) {
      if (!function.entry) continue;
      const std::string name(function.name);
      registers[name] = static_cast<unsigned>(plain.entry(name, file.string()).registers);
    }
  } catch (const KernelError&) {
    return {};
  }
  return registers;
}

Image read_image(const Session& session, const fs::path& file, bool instrument) {
  Image image;
  image.text = read_bounded(file, max_module_bytes);
  if (file.extension() == ".cubin") {
    if (const std::string problem = cubin_problem(image.text); !problem.empty()) {
      throw KernelError(fmt::format("{}: found {}, expected a cubin", file.string(), problem));
    }
    return image;
  }
  if (image.text.find('\0') != std::string::npos) {
    throw KernelError(fmt::format("{}: found a zero byte, expected PTX text", file.string()));
  }
  try {
    image.stateless = !ptx::parse(image.text).has_global_variables;
    image.refused = ptx::refused_entries(image.text);
    if (instrument) {
      ptx::Instrumented result = ptx::instrument(
          image.text,
          {.registers = registers_of(session, image.text, file), .lines_of_text = file.string()});
      image.text = std::move(result.text);
      image.counters = result.map.counters.size();
      if (image.counters > 0) image.coverage_map = result.map.to_json();
    }
  } catch (const ptx::PtxError& error) {
    throw KernelError(fmt::format("{}: {}", file.string(), error.what()));
  }
  return image;
}

void check_arguments(const LaunchSpec& launch, const Entry& entry) {
  if (launch.arguments.size() != entry.parameters.size()) {
    throw KernelError(fmt::format(
        "{}.arguments: found {}, expected one for each of the {} parameters of {} (bytes: {})",
        launch.where, launch.arguments.size(), entry.parameters.size(), launch.entry,
        fmt::join(entry.parameters, ", ")));
  }
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const ArgumentType type = launch.arguments[i].type;
    if (bytes(type) == entry.parameters[i]) continue;
    std::vector<std::string_view> fitting;
    for (size_t row = 0; row <= static_cast<size_t>(ArgumentType::float64); ++row) {
      const auto candidate = static_cast<ArgumentType>(row);
      if (bytes(candidate) == entry.parameters[i]) fitting.push_back(name(candidate));
    }
    throw KernelError(fmt::format(
        "{}.arguments[{}].type: found {} of {} bytes, expected {}: parameter {} of {} has {} bytes",
        launch.where, i, name(type), bytes(type),
        fitting.empty() ? "what no C type here can be"
                        : fmt::format("{}", fmt::join(fitting, ", ")),
        i, launch.entry, entry.parameters[i]));
  }
}

void check_block(const LaunchSpec& launch, const Entry& entry) {
  if (!launch.block_threads || *launch.block_threads <= entry.block_threads) return;
  throw KernelError(fmt::format("{}.block: found {} threads, expected at most {}, which {} allows",
                                launch.where, *launch.block_threads, entry.block_threads,
                                launch.entry));
}

class ModuleKernel final : public KernelCode {
 public:
  ModuleKernel(const Session& session, ModuleManifest manifest, const Image& image)
      : session_(session),
        manifest_(std::move(manifest)),
        coverage_map_(image.coverage_map),
        counters_(image.counters),
        stateless_(image.stateless) {
    for (const LaunchSpec& launch : manifest_.launches) {
      refusals_.push_back(refusal(image, launch.entry));
    }
    try {
      module_.emplace(session, image.text, manifest_.module);
    } catch (const KernelError&) {
      // Code of another GPU, say; its fault is known without it.
      if (!always_refused()) throw;
      coverage_map_.clear();
      counters_ = 0;
      return;
    }
    for (const LaunchSpec& launch : manifest_.launches) {
      Entry entry = module_->entry(launch.entry, launch.where + ".entry");
      check_arguments(launch, entry);
      check_block(launch, entry);
      entries_.push_back(std::move(entry));
    }
  }

  std::string preconditions() const override { return manifest_.preconditions; }

  uint64_t workspace_bytes(const Case& c, const WfCall&) override {
    if (!manifest_.workspace) return 0;
    call_values(c, values_);
    return static_cast<uint64_t>(std::max<int64_t>(manifest_.workspace->evaluate(values_), 0));
  }

  WfStatus call(const Case& c, const WfCall& call) override {
    call_values(c, values_);
    const uint32_t failed_before = report_.failed_launches;
    for (size_t i = 0; i < manifest_.launches.size(); ++i) {
      const LaunchSpec& spec = manifest_.launches[i];
      if (!spec.when || spec.when->evaluate(values_) != 0) launch(i, call);
    }
    return report_.failed_launches == failed_before ? WF_OK : WF_ERROR;
  }

  void begin(void*) override { report_ = {}; }
  std::optional<WfCudaReport> end() override { return report_; }

  CounterArray counters() const override {
    return {counters_ > 0 ? module_->variable(ptx::coverage_symbol) : 0, counters_};
  }
  std::string coverage_map() const override { return coverage_map_; }
  bool stateless() const override { return stateless_; }

 private:
  // Why launches of this entry are refused; empty if they are not.
  static std::string refusal(const Image& image, const std::string& name) {
    for (const ptx::RefusedEntry& refused : image.refused) {
      if (refused.entry == name) return std::string(tensor_memory_refusal) + refused.message;
    }
    return {};
  }

  // Some launch that every call makes is.
  bool always_refused() const {
    for (size_t i = 0; i < refusals_.size(); ++i) {
      if (!refusals_[i].empty() && !manifest_.launches[i].when) return true;
    }
    return false;
  }

  void launch(size_t index, const WfCall& call) {
    const LaunchSpec& spec = manifest_.launches[index];
    int64_t sizes[7];  // grid, block, shared
    for (size_t i = 0; i < 3; ++i) {
      sizes[i] = spec.grid[i].evaluate(values_);
      sizes[3 + i] = spec.block[i].evaluate(values_);
    }
    sizes[6] = spec.shared ? spec.shared->evaluate(values_) : 0;
    if (std::find(sizes, sizes + 3, 0) != sizes + 3) return;
    const bool possible = std::all_of(std::begin(sizes), std::end(sizes), [](int64_t size) {
      return size >= 0 && size <= std::numeric_limits<uint32_t>::max();
    });
    if (!possible) return refuse(bad_configuration);
    if (!refusals_[index].empty()) return refuse(refusals_[index].c_str());
    if (!module_) return;  // a refused launch follows, or was before
    const Entry& entry = entries_[index];
    unsigned u[7];
    std::copy(std::begin(sizes), std::end(sizes), u);
    set_arguments(spec, call);
    const Driver& driver = session_.driver();
    const Status status = driver.launch(entry.function, u[0], u[1], u[2], u[3], u[4], u[5], u[6],
                                        call.stream, pointers_.data(), nullptr);
    if (status != success) {
      const char* text = nullptr;
      return refuse(driver.error_string(status, &text) == success ? text : "unknown error");
    }
    ++report_.launches;
    keep_largest(report_.registers, entry.registers);
    keep_largest(report_.local_bytes, entry.local_bytes);
    keep_largest(report_.shared_bytes, entry.shared_bytes + sizes[6]);
    keep_largest(report_.block_threads, sizes[3] * sizes[4] * sizes[5]);
  }

  void refuse(const char* message) {
    ++report_.failed_launches;
    std::strncpy(report_.message, message, sizeof report_.message - 1);
  }

  static void keep_largest(uint32_t& kept, int64_t value) {
    kept = std::max(kept, static_cast<uint32_t>(value));
  }

  // The low bytes of an integer are what C's conversion leaves of it.
  void set_arguments(const LaunchSpec& spec, const WfCall& call) {
    slots_.assign(std::max<size_t>(spec.arguments.size(), 1), 0);
    pointers_.clear();
    for (size_t i = 0; i < spec.arguments.size(); ++i) {
      slots_[i] = argument_bits(spec.arguments[i], call);
      pointers_.push_back(&slots_[i]);
    }
  }

  uint64_t argument_bits(const Argument& argument, const WfCall& call) const {
    const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
    using enum Argument::Source;
    switch (argument.source) {
      case null:
        return 0;
      case workspace:
        return address(call.workspace);
      case input:
        return address(call.inputs[argument.index].data);
      case output:
        return address(call.outputs[argument.index].data);
      case attribute:
        return real_bits(argument.type, call.attributes[argument.index].real);
      case number:
        return real_bits(argument.type, argument.number);
      case expression:
        break;
    }
    const int64_t value = argument.expression->evaluate(values_);
    if (argument.type == ArgumentType::boolean) return value != 0;
    const bool real =
        argument.type == ArgumentType::float32 || argument.type == ArgumentType::float64;
    return real ? real_bits(argument.type, static_cast<double>(value))
                : static_cast<uint64_t>(value);
  }

  static uint64_t real_bits(ArgumentType type, double value) {
    uint64_t bits = 0;
    if (type == ArgumentType::float32) {
      const auto narrow = static_cast<float>(value);
      std::memcpy(&bits, &narrow, sizeof narrow);
    } else {
      std::memcpy(&bits, &value, sizeof value);
    }
    return bits;
  }

  const Session& session_;
  ModuleManifest manifest_;
  std::optional<LoadedModule> module_;  // empty where a launch of every call is refused
  std::string coverage_map_;
  size_t counters_;
  bool stateless_;
  std::vector<std::string> refusals_;  // as manifest_.launches, as the following
  std::vector<Entry> entries_;
  WfCudaReport report_{};
  std::vector<int64_t> values_;
  std::vector<uint64_t> slots_;
  std::vector<void*> pointers_;
};

}  // namespace

std::unique_ptr<KernelCode> load_module_kernel(const Session& session, const fs::path& manifest,
                                               const Schema& schema, bool instrument) {
  ModuleManifest read = read_module_manifest(manifest, schema);
  const Image image = read_image(session, read.module, instrument);
  return std::make_unique<ModuleKernel>(session, std::move(read), image);
}

}  // namespace warpfuzz::cuda
