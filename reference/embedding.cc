// embedding: y[i] = table[index[i]], a copy of bits.
#include "reference/reference.h"
#include "schemas/check.h"

namespace warpfuzz {
namespace {

struct Embedding {
  static Geometry geometry(const Call& call) { return last_axis_rows(call); }
  template <class A>
  static void row(A& a, const Call& call, size_t row) {
    const double index = call.input(0).values[row];
    const size_t rows = call.input(1).extent(0);
    WARPFUZZ_CHECK(index >= 0 && index < static_cast<double>(rows), "index {} of {} rows", index,
                   rows);
    a.output(row, a.input(1, static_cast<size_t>(index), call.input(1).last_extent()));
  }
};

}  // namespace

constexpr Reference embedding_reference = make_reference<Embedding>("embedding");

}  // namespace warpfuzz
