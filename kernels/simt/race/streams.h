// Which operations of streams are ordered, and what of the host's own work: vector clocks over the
// streams, of which the host is one. An operation is a launch, a copy, a fill or a function that a
// stream calls on the host.
//
//   - What the host has done is ordered before an operation that it then asks for.
//   - The operations of one stream are ordered.
//   - The legacy default stream waits for all streams that were not made with
//     cudaStreamNonBlocking, and they for it.
//   - cudaStreamWaitEvent: for what the stream of the event had been asked for when it was
//   recorded.
//   - The host waits for a stream, an event, the device, or one operation (a copy that returns when
//     it is done).
//
// Operations run when the host asks for them, so a tick tells to which of them an access belongs.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kernels/simt/include/wf_simt.h"
#include "kernels/simt/race/happens_before.h"

namespace warpfuzz::simt::race {

inline constexpr Tick last_tick = ~Tick{0};

// Where the threads of a launch were.
struct LaunchPlaces {
  dim3 grid, block;
  Actor first_block = 0;        // serial number of the first block that ran
  Actor blocks = 0;             // that have begun
  std::vector<uint64_t> order;  // their indices by serial number; empty: they ran in order
  void begin_block(Actor serial, uint64_t index);
};

class StreamOrder {
 public:
  struct Segment {  // of the time: one operation, or what the host does between two
    Tick begin = 0;
    uint32_t stream = host_work;
    uint32_t count = 0;  // of the stream's segments up to this one
    LaunchPlaces places = {};
    bool on_host() const { return stream == host_work; }
    bool is_launch() const { return places.blocks != 0; }
  };

  void begin_run(Tick now);
  // Of a stream that was never created it is taken for granted that it is the default one.
  void create(const void* stream, bool blocking);
  Segment& begin(const void* stream, Tick now);
  void end(Tick now);
  void record(const void* event, const void* stream, Tick now);
  void wait(const void* stream, const void* event);
  // The host has waited; first for the operation that began last.
  void wait_on_host_for_last(Tick now);
  void wait_on_host_for_stream(const void* stream, Tick now);
  void wait_on_host_for_event(const void* event, Tick now);
  void wait_on_host_for_all(Tick now);

  // Of what runs now, the host or an operation: whether an access of the past is ordered before it,
  // and the tick up to which all are; last_tick if all are.
  bool ordered(Tick at) const;
  Tick floor() const;
  // nullptr if everything has waited for it long ago.
  const Segment* segment_at(Tick at) const;

 private:
  using Clock = std::vector<uint32_t>;  // segments of each stream
  static constexpr uint32_t host_work = 0;
  static constexpr uint32_t legacy = 1;
  struct Stream {
    bool blocking = true;
    Clock clock = {};               // of its last operation; of the host, of what it does now
    uint32_t count = 0;             // of its segments
    uint32_t forgotten = 0;         // of these, the first ones
    std::vector<Tick> begins = {};  // of the others
  };
  uint32_t find(const void* stream) const;
  void start_segment(uint32_t stream, Tick now);
  void wait_on_host(const Clock& clock, Tick now);
  const Clock& running() const { return streams_[running_].clock; }

  std::vector<Stream> streams_;
  std::unordered_map<const void*, uint32_t> handles_;
  std::unordered_map<const void*, Clock> events_;
  std::vector<Segment> segments_;  // since the host last waited for everything
  uint32_t running_ = host_work;
  Clock last_;  // of the last operation
};

}  // namespace warpfuzz::simt::race
