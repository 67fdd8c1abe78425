// Each gate against hand-made observations: what it must accuse, and its nearest innocent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/gates_fixture.h"

namespace warpfuzz {
namespace {

using testing::HasSubstr;
using namespace testing_support;

struct Row {
  std::string name;
  std::string gate;
  Outcome expected;
  std::vector<std::pair<Probe, Observation>> observations;
  std::string reason;  // part of it
  bool exact = false;
  bool has_specials = false;
  bool excluded = false;
  std::string tag = {};  // of the schema
  bool batch_invariant = true;
};

std::vector<Row> rows() {
  constexpr auto P = Probe::primary;
  const auto bad = Outcome::violation;
  const auto good = Outcome::pass;
  const auto none = Outcome::not_applicable;
  const Tensor half_written = [] {
    Tensor t = poisoned(3, Poison::quiet_nan);
    std::memcpy(t.data.data(), floats({1}).data.data(), 4);
    return t;
  }();
  const Tensor half_written_again = [] {
    Tensor t = poisoned(3, Poison::other);
    std::memcpy(t.data.data(), floats({1}).data.data(), 4);
    return t;
  }();
  return {
      {"oob_read", "RUN-01", bad, {{P, faulted(FaultKind::out_of_bounds_read)}}, "something"},
      {"ignored_launch", "RUN-01", bad, {{P, with_status(RunStatus::ok, 1)}}, "returned WF_OK"},
      {"kernel_error", "RUN-01", bad, {{P, with_status(RunStatus::error, 0)}}, "WF_ERROR"},
      {"clean_run", "RUN-01", good, {{P, clean()}}, ""},
      {"hang", "RUN-02", bad, {{P, faulted(FaultKind::time_limit)}}, "something"},
      {"barrier", "RUN-02", bad, {{P, faulted(FaultKind::divergent_barrier)}}, "something"},
      {"bounds_is_no_hang", "RUN-02", good, {{P, faulted(FaultKind::out_of_bounds_read)}}, ""},
      {"guard", "MEM-01", bad, {{P, damaged(RegionKind::guard)}}, "wrote 2 bytes into somewhere"},
      {"oob_write", "MEM-01", bad, {{P, faulted(FaultKind::out_of_bounds_write)}}, "something"},
      {"input_is_no_guard", "MEM-01", good, {{P, damaged(RegionKind::input)}}, ""},
      {"input", "MEM-03", bad, {{P, damaged(RegionKind::input)}}, "changed 2 bytes"},
      {"guard_is_no_input", "MEM-03", good, {{P, damaged(RegionKind::guard)}}, ""},
      {"race",
       "RAC-01",
       bad,
       {{P, clean()}, {Probe::race_check, raced()}},
       "a read of shared variable total is not ordered after the write by another thread"},
      {"old_contents_are_no_race",
       "RAC-01",
       good,
       {{P, clean()}, {Probe::race_check, faulted(FaultKind::uninitialized_read)}},
       ""},
      {"no_race_check", "RAC-01", none, {{P, clean()}}, "no run on a race build"},
      {"unwritten",
       "MEM-02",
       bad,
       {{P, clean(half_written)}, {Probe::other_poison, clean(half_written_again)}},
       "2 of 3 elements of output y are never written"},
      {"stale",
       "MEM-02",
       bad,
       {{P, clean()},
        {Probe::other_poison, clean(floats({1, 2, 4}))},
        {Probe::other_schedule, clean()}},
       "change with the bytes that were in memory"},
      {"written", "MEM-02", good, {{P, clean()}, {Probe::other_poison, clean()}}, ""},
      {"one_run_only", "MEM-02", none, {{P, clean()}}, "no second run"},
      {"schedule",
       "ORD-02",
       bad,
       {{P, clean()}, {Probe::other_schedule, clean(floats({1, 2, 4}))}},
       "1 of 3 elements"},
      {"minus_zero",
       "ORD-02",
       bad,
       {{P, clean(floats({0.0f}))}, {Probe::other_schedule, clean(floats({-0.0f}))}},
       "order"},
      {"same_nan",
       "ORD-02",
       good,
       {{P, clean(poisoned(2, Poison::quiet_nan))},
        {Probe::other_schedule, clean(poisoned(2, Poison::quiet_nan))}},
       ""},
      {"reads_guards",
       "MEM-04",
       bad,
       {{P, clean()}, {Probe::other_guards, clean(floats({1, 2, 4}))}},
       "1 of 3 elements of output y change with bytes outside the inputs"},
      {"reads_inputs_only", "MEM-04", good, {{P, clean()}, {Probe::other_guards, clean()}}, ""},
      {"schedule_is_no_read",
       "MEM-04",
       good,
       {{P, clean()},
        {Probe::other_guards, clean(floats({1, 2, 4}))},
        {Probe::other_schedule, clean(floats({1, 2, 5}))}},
       ""},
      {"refused_launch", "RES-02", bad, {{P, with_status(RunStatus::ok, 1)}}, "returned WF_OK"},
      {"noticed_refusal", "RES-02", bad, {{P, with_status(RunStatus::error, 1)}}, "an error"},
      {"tensor_memory",
       "RES-02",
       bad,
       {{P, refused("tensor memory: tcgen05.alloc of 96 columns")}},
       "1 of 1 launches not made; tensor memory: tcgen05.alloc of 96 columns"},
      {"other_error", "RES-02", good, {{P, refused("tensor memory is not that")}}, ""},
      {"no_refusal", "RES-02", good, {{P, with_status(RunStatus::error, 0)}}, ""},
      {"host_result", "RES-01", bad, {{P, launched(0)}}, "no kernel was launched"},
      {"uncounted", "RES-01", none, {{P, uncounted()}}, "nobody counts"},
      {"left_running", "RES-01", bad, {{P, left_running()}}, "another stream"},
      {"launched", "RES-01", good, {{P, launched(1)}}, ""},
      {"filled_on_the_device", "RES-01", good, {{P, launched(0, 1)}}, ""},
      {"nothing_written", "RES-01", good, {{P, clean(poisoned(3, Poison::quiet_nan))}}, ""},
      {"memoised",
       "STA-01",
       bad,
       {{P, clean()}, {Probe::changed_element, wrong()}, {Probe::fresh_state, clean()}},
       "one input element changed"},
      {"remembers_the_second",
       "STA-01",
       bad,
       {{P, clean()},
        {Probe::changed_element, clean()},
        {Probe::repeated_call, wrong()},
        {Probe::fresh_state, clean()}},
       "after a call that differs"},
      {"wrong_without_a_past",
       "STA-01",
       good,
       {{P, clean()}, {Probe::changed_element, wrong()}, {Probe::fresh_state, wrong()}},
       ""},
      {"stale_bits_where_nothing_is_fresh",
       "STA-01",
       bad,
       {{P, clean()}, {Probe::changed_element, wrong_outputs({1, 2, 3})}},
       "one input element changed"},
      {"other_bits_where_nothing_is_fresh",
       "STA-01",
       good,
       {{P, clean()}, {Probe::changed_element, wrong_outputs({1, 2, 4})}},
       ""},
      {"bits_that_were_wrong_before_too",
       "STA-01",
       good,
       {{P, wrong_outputs({1, 2, 3})}, {Probe::changed_element, wrong_outputs({1, 2, 3})}},
       ""},
      {"lone_row",
       "INV-01",
       bad,
       {{P, clean()}, {Probe::lone_row, clean(floats({1, 2, 4}))}},
       "1 of 3 elements of a row of output y"},
      {"same_row", "INV-01", good, {{P, clean()}, {Probe::lone_row, clean()}}, ""},
      {"wrong_row", "INV-01", good, {{P, clean()}, {Probe::lone_row, wrong_outputs({9})}}, ""},
      {"no_promise",
       "INV-01",
       none,
       {{P, clean()}, {Probe::lone_row, clean(floats({1, 2, 4}))}},
       "does not promise",
       false,
       false,
       false,
       "",
       false},
      {"gradient", "CMP-02", bad, {{P, wrong()}}, "gradient", false, false, false, "backward"},
      {"right_gradient", "CMP-02", good, {{P, clean()}}, "", false, false, false, "backward"},
      {"forward", "CMP-02", none, {{P, wrong()}}, "no backward operator"},
      {"prefix", "ORD-03", bad, {{P, wrong()}}, "prefix", false, false, false, "scan"},
      {"right_prefix", "ORD-03", good, {{P, clean()}}, "", false, false, false, "scan"},
      {"no_scan", "ORD-03", none, {{P, wrong()}}, "no scan"},
      {"rejected", "CMP-03", bad, {{P, with_status(RunStatus::unsupported, 0)}}, "WF_UNSUPPORTED"},
      {"rejected_as_declared",
       "CMP-03",
       none,
       {{P, with_status(RunStatus::unsupported, 0)}},
       "preconditions",
       false,
       false,
       true},
      {"tail", "CMP-03", bad, {{P, wrong()}, {Probe::tame_shape, clean()}}, "wrong on this shape"},
      {"subnormals_are_no_shape",
       "CMP-03",
       good,
       {{P, wrong(OffenceKind::subnormal)}, {Probe::tame_shape, clean()}},
       ""},
      {"any_shape", "CMP-03", good, {{P, wrong()}, {Probe::tame_shape, wrong()}}, ""},
      {"nan_lost",
       "EXC-01",
       bad,
       {{P, wrong(OffenceKind::non_finite, 1, 0, class_nan)}},
       "does not reach",
       false,
       true},
      {"nan_made",
       "EXC-01",
       bad,
       {{P, wrong(OffenceKind::non_finite)}},
       "where the result is finite"},
      {"wrong_value", "EXC-01", good, {{P, wrong()}}, ""},
      {"flushed", "EXC-02", bad, {{P, wrong(OffenceKind::subnormal)}}, "subnormal"},
      {"not_flushed", "EXC-02", good, {{P, wrong()}}, ""},
      {"narrow",
       "PRC-02",
       bad,
       {{P, wrong()}, {Probe::coarse_values, clean()}, {Probe::lattice_values, wrong()}},
       "sums lose",
       true},
      {"wrong_anyway",
       "PRC-02",
       good,
       {{P, wrong()}, {Probe::coarse_values, wrong()}, {Probe::lattice_values, wrong()}},
       "",
       true},
      {"nonlinear",
       "PRC-02",
       none,
       {{P, wrong()}, {Probe::coarse_values, clean()}, {Probe::lattice_values, wrong()}},
       "no exact control runs"},
      {"rounded_inputs",
       "PRC-01",
       bad,
       {{P, wrong()},
        {Probe::few_bits, clean()},
        {Probe::coarse_values, clean()},
        {Probe::lattice_values, clean()}},
       "inputs lose",
       true},
      {"few_bits_are_as_wrong",
       "PRC-01",
       good,
       {{P, wrong()},
        {Probe::few_bits, wrong()},
        {Probe::coarse_values, clean()},
        {Probe::lattice_values, clean()}},
       "",
       true},
      {"special_inputs_lose_no_bits",
       "PRC-01",
       none,
       {{P, wrong()}, {Probe::coarse_values, clean()}, {Probe::lattice_values, clean()}},
       "an input holds NaN or an infinity",
       true,
       true},
      {"narrow_is_not_inputs",
       "PRC-01",
       good,
       {{P, wrong()}, {Probe::coarse_values, clean()}, {Probe::lattice_values, wrong()}},
       "",
       true},
      {"lost_bit",
       "ORD-01",
       bad,
       {{P, wrong(OffenceKind::value, 1024.5, 1024)}},
       "not exact",
       true},
      {"lost_bit_of_a_sum_that_is_zero",
       "ORD-01",
       bad,
       {{P, wrong(OffenceKind::value, 0x1p-23, 0)}},
       "not exact",
       true},
      {"far_off_zero", "ORD-01", good, {{P, wrong(OffenceKind::value, 1, 0)}}, "", true},
      {"far_off", "ORD-01", good, {{P, wrong(OffenceKind::value, 5, 1024)}}, "", true},
      {"inexact_inputs", "ORD-01", none, {{P, wrong(OffenceKind::value, 1024.5, 1024)}}, "lattice"},
      {"value", "CMP-01", bad, {{P, wrong()}}, "wrong"},
      {"right", "CMP-01", good, {{P, clean()}}, ""},
  };
}

class Gates : public testing::TestWithParam<Row> {};

TEST_P(Gates, Judge) {
  const Row& row = GetParam();
  Case c;
  const auto schema = std::make_shared<Schema>(*make_schema());
  schema->contract.batch_invariant = row.batch_invariant;
  schema->tags = {row.tag};
  c.schema = schema;
  c.axes = {3};
  Judgement judgement{.c = c, .observations = {}};
  judgement.lone_row_elements = {{0, 1, 2}};
  judgement.has_specials = row.has_specials;
  judgement.excluded_by_preconditions = row.excluded;
  for (const auto& [probe, observation] : row.observations) {
    judgement.observations[static_cast<size_t>(probe)] = observation;
    judgement.observations[static_cast<size_t>(probe)]->exact = row.exact;
  }
  const GateResult result = find_gate(row.gate)->check(judgement);
  EXPECT_EQ(result.outcome, row.expected) << result.reason;
  EXPECT_THAT(result.reason, HasSubstr(row.reason));
}

INSTANTIATE_TEST_SUITE_P(All, Gates, testing::ValuesIn(rows()),
                         [](const auto& row) { return row.param.name; });

// Atomics in floating point, where the operator allows them: no two runs on a GPU need agree.
TEST(GateTable, WhatMayVaryFromRunToRunIsNoReadOfOldContents) {
  Case c;
  const auto schema = std::make_shared<Schema>(*make_schema());
  schema->contract.determinism = Determinism::none;
  c.schema = schema;
  c.axes = {3};
  Judgement judgement{.c = c, .observations = {}};
  const auto put = [&](Probe probe, Observation observation) {
    judgement.observations[static_cast<size_t>(probe)] = std::move(observation);
  };
  put(Probe::primary, clean());
  put(Probe::other_schedule, clean());
  put(Probe::other_poison, clean(floats({1, 2, 4})));
  put(Probe::other_guards, clean(floats({1, 2, 4})));
  for (const char* gate : {"MEM-02", "MEM-04"}) {
    EXPECT_EQ(find_gate(gate)->check(judgement).outcome, Outcome::violation) << gate;
  }
  judgement.observations[0]->run.device_use.emplace();
  for (const char* gate : {"MEM-02", "MEM-04"}) {
    EXPECT_NE(find_gate(gate)->check(judgement).outcome, Outcome::violation) << gate;
  }
}

// What a copy or the host did is no thread's.
TEST(GateTable, Rac01NamesAThreadOnlyWhereOneMadeTheEarlierAccess) {
  Case c;
  c.schema = make_schema();
  c.axes = {3};
  Judgement judgement{.c = c, .observations = {}};
  const auto reason_after = [&](const char* kind, bool in_device_code) {
    Observation observation = raced();
    observation.run.faults[0].earlier->kind = kind;
    observation.run.faults[0].earlier->in_device_code = in_device_code;
    judgement.observations[static_cast<size_t>(Probe::race_check)] = observation;
    return find_gate("RAC-01")->check(judgement).reason;
  };
  const std::string start = "a read of shared variable total is not ordered after the ";
  EXPECT_EQ(reason_after("write", true), start + "write by another thread");
  EXPECT_EQ(reason_after("write on the host", false), start + "write on the host");
  EXPECT_EQ(reason_after("write by a copy or fill", false), start + "write by a copy or fill");
}

// Which read found old contents is told where results depend on them, and not otherwise.
TEST(GateTable, Mem02NamesTheLinesOfUninitialisedReads) {
  Case c;
  c.schema = make_schema();
  c.axes = {3};
  Judgement judgement{.c = c, .observations = {}};
  const auto put = [&](Probe probe, Observation observation) {
    judgement.observations[static_cast<size_t>(probe)] = std::move(observation);
  };
  put(Probe::primary, clean());
  put(Probe::other_schedule, clean());
  put(Probe::other_poison, clean());
  put(Probe::race_check, faulted(FaultKind::uninitialized_read));
  EXPECT_EQ(find_gate("MEM-02")->check(judgement).outcome, Outcome::pass);
  put(Probe::other_poison, clean(floats({1, 2, 4})));
  const GateResult result = find_gate("MEM-02")->check(judgement);
  EXPECT_EQ(result.outcome, Outcome::violation);
  ASSERT_EQ(result.faults.size(), 1u);
  EXPECT_EQ(result.faults[0].kind, FaultKind::uninitialized_read);
}

TEST(GateTable, IdentifiersAreUnique) {
  for (const Gate& gate : gates()) EXPECT_EQ(find_gate(gate.id), &gate) << gate.id;
  EXPECT_EQ(find_gate("XXX-99"), nullptr);
}

TEST(GateTable, EveryGateHasARowHere) {
  for (const Gate& gate : gates()) {
    bool accused = false, acquitted = false;
    for (const Row& row : rows()) {
      if (row.gate != gate.id) continue;
      (row.expected == Outcome::violation ? accused : acquitted) = true;
    }
    EXPECT_TRUE(accused && acquitted) << gate.id;
  }
}

}  // namespace
}  // namespace warpfuzz
