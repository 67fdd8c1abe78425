// scatter_add: y[index[i], :] += x[i, :] into zeros, the additions in any order.
#include "reference/reference.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

struct ScatterAdd {
  static constexpr OutputForm outputs[] = {OutputForm::sums};
  static Geometry geometry(const Call& call) {
    return {call.output_size() == 0 ? 0 : call.input(0).extent(0), call.output_last_extent()};
  }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const double index = call.input(0).values[row];
    const size_t columns = call.output_last_extent();
    WARPFUZZ_CHECK(index >= 0 && index * static_cast<double>(columns) <
                                     static_cast<double>(call.output_size()),
                   "index {} of {} rows", index, call.output_size() / columns);
    a.add_to(0, static_cast<size_t>(index), a.input(1, row, columns));
  }
};

}  // namespace

constexpr Reference scatter_add_reference = make_reference<ScatterAdd>("scatter_add");

}  // namespace warpfuzz
