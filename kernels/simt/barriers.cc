// The runtime's part of cuda::barrier. Only one CUDA thread runs at a time, so the state needs no
// atomic operations here.
#include <fmt/format.h>

#include "kernels/simt/grid.h"
#include "kernels/simt/race/detector.h"
#include "kernels/simt/run.h"

using namespace warpfuzz::simt;

extern "C" {

bool wf_barrier_arrive(wf_simt::BarrierState* state, int count, int drop, bool block_scope,
                       bool function, const char* file, int line) {
  check_time_limit();
  if (count > state->pending) {
    RawFault fault = make_fault(warpfuzz::FaultKind::undefined_behavior, file, line);
    set_text(fault.message, "{} arrivals at a barrier that lacks {} of {}", count, state->pending,
             state->expected);
    report(fault);
    return false;
  }
  state->pending -= count;
  state->expected -= drop;
  if (block_scope) race::detector.arrive(state);
  if (state->pending != 0) return false;
  grid.block().async_copies().complete(state);
  if (block_scope) race::detector.end_phase(state);
  if (block_scope && function) race::detector.pass(state);
  return true;
}

void wf_barrier_complete(wf_simt::BarrierState* state, bool block_scope, bool function) {
  if (block_scope && function) {
    race::detector.arrive(state);
    race::detector.end_phase(state);
  }
  state->pending = state->expected;
  ++state->phase;
  grid.block().wake();
}

void wf_barrier_wait(wf_simt::BarrierState* state, unsigned phase, bool block_scope,
                     const char* file, int line) {
  while (state->phase == phase) grid.sleep(*state, phase, file, line);
  if (block_scope) race::detector.pass(state);
}

bool wf_barrier_test(wf_simt::BarrierState* state, unsigned phase, bool block_scope) {
  if (state->phase == phase) wf_yield();
  if (state->phase == phase) return false;
  if (block_scope) race::detector.pass(state);
  return true;
}
}
