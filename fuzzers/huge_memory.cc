// What a huge call has done to memory: guards, inputs, and output elements that nobody wrote.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fuzzers/huge_trial.h"

namespace warpfuzz {

void HugeTrial::check_memory(HugeVerdict& verdict) const {
  // Guards, in order of address.
  std::vector<std::pair<std::string, std::pair<size_t, size_t>>> guards;
  size_t end = 0;
  std::string before = "before everything";
  const auto add = [&](size_t begin, size_t bytes, std::string after) {
    guards.push_back({before, {end, begin}});
    end = begin + bytes;
    before = std::move(after);
  };
  for (const Placed& p : inputs_) add(p.begin, p.bytes, "after input " + p.spec->name);
  add(workspace_, workspace_bytes_, "after the workspace");
  for (const Placed& p : outputs_) add(p.begin, p.bytes, "after output " + p.spec->name);
  add(size_, 0, "");
  for (const auto& [where, stretch] : guards) {
    const auto [begin, stop] = stretch;
    std::vector<unsigned char> bytes(stop - begin);
    copy_to_host(bytes.data(), block_ + begin, bytes.size());
    const auto intact = [](unsigned char byte) { return byte == huge_poison; };
    const auto first = std::find_if_not(bytes.begin(), bytes.end(), intact);
    if (first == bytes.end()) continue;
    const auto changed = std::count_if(first, bytes.end(), [&](auto b) { return !intact(b); });
    return verdict.find("MEM-01",
                        fmt::format("{} bytes of the guard {} changed, the first {} bytes into it",
                                    changed, where, first - bytes.begin()));
  }
  for (const Placed& placed : inputs_) {
    uint64_t changed = 0, first = 0;
    if (placed.law) {
      const cuda::ElementCount count = work_.count_other(placed.tensor, *placed.law);
      changed = count.elements;
      first = count.first;
    } else {
      std::vector<std::byte> bytes(placed.bytes);
      copy_to_host(bytes.data(), placed.tensor.data, bytes.size());
      const size_t width = info(placed.tensor.dtype).bytes;
      for (size_t i = 0; i < bytes.size(); i += width) {
        if (std::memcmp(&bytes[i], &placed.host.data[i], width) == 0) continue;
        if (changed++ == 0) first = i / width;
      }
    }
    if (changed == 0) continue;
    return verdict.find(
        "MEM-03", fmt::format("{} elements of input {} changed, the first is number {}", changed,
                              placed.spec->name, first));
  }
  for (const Placed& placed : outputs_) {
    // In other types all bits set is an ordinary value: check_integers_written().
    if (!info(placed.tensor.dtype).floating) continue;
    const cuda::ElementCount count = work_.count_all_ones(placed.tensor);
    if (count.elements == 0) continue;
    return verdict.find(
        "MEM-02",
        fmt::format("{} of {} elements of output {} are not written, the first is number {}",
                    count.elements, placed.tensor.elements, placed.spec->name, count.first));
  }
}

// In an integer type the poison is a value like any other. So elements that have it are replaced by
// another one, a mark, and the kernel is called once more on the same inputs. What a kernel writes
// has the same value both times, so what is unwritten, and nothing else, leaves the elements that
// have the poison and joins those that have the mark: as many, and (by a hash of the sets) the same
// elements. A kernel whose integers differ between two calls does not satisfy that and is not
// accused here.
void HugeTrial::check_integers_written(const Case& c, HugeVerdict& verdict) {
  std::vector<Integers> suspects;
  for (const Placed& placed : outputs_) {
    if (info(placed.tensor.dtype).floating) continue;
    const cuda::ElementCount poisoned = work_.count_all_ones(placed.tensor);
    if (poisoned.elements == 0) continue;
    suspects.push_back({&placed, poisoned, work_.count_marks(placed.tensor)});
  }
  if (suspects.empty()) return;
  for (const Integers& suspect : suspects) work_.mark_all_ones(suspect.placed->tensor);
  if (workspace_bytes_ > 0) {
    const cuda::Driver& driver = session_.driver();
    driver.check(driver.fill(block_ + workspace_, huge_poison, workspace_bytes_, session_.stream()),
                 "a fill on the device");
  }
  HugeVerdict again;
  call_kernel(c, again);
  verdict.device_lost |= again.device_lost;
  if (again.outcome == HugeOutcome::finding && verdict.outcome != HugeOutcome::finding) {
    return verdict.find(again.gate.c_str(), "called again on the same inputs: " + again.reason);
  }
  if (again.outcome != HugeOutcome::pass) return;
  for (const Integers& suspect : suspects) {
    const cuda::DeviceTensor& tensor = suspect.placed->tensor;
    const cuda::ElementCount poisoned = work_.count_all_ones(tensor);
    const cuda::ElementCount marked = work_.count_marks(tensor);
    const uint64_t joined = marked.elements - suspect.marked.elements;
    if (joined == 0 || joined != suspect.poisoned.elements - poisoned.elements ||
        marked.sum - suspect.marked.sum != suspect.poisoned.sum - poisoned.sum) {
      continue;
    }
    return verdict.find("MEM-02", fmt::format("{} of {} elements of output {} are not written",
                                              joined, tensor.elements, suspect.placed->spec->name));
  }
}

}  // namespace warpfuzz
