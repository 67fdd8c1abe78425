// Signals while a kernel runs: memory faults and traps end the run with a fault, and a timer of the
// process notices kernels that do not end. Outside runs, signals go to whoever handled them before.
#pragma once

namespace warpfuzz::simt {

// Installs handlers and timer once; cheap afterwards. The OS thread that calls it is the one that
// runs kernels.
void install_signal_handlers();

}  // namespace warpfuzz::simt
