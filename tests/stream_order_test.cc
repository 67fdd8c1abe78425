// The order of streams against a plain model of the same rules: sets of segments of work instead of
// vector clocks. Random programs of launches, events and waits on five streams.
#include <gtest/gtest.h>

#include <array>
#include <bitset>
#include <random>
#include <vector>

#include "kernels/simt/race/streams.h"

namespace warpfuzz::simt::race {
namespace {

using Set = std::bitset<512>;

constexpr size_t stream_count = 5;
constexpr size_t event_count = 3;
// The legacy default stream, the per-thread one, a blocking one and two others.
const void* handle(size_t stream) {
  constexpr std::array<uintptr_t, stream_count> handles = {0, 2, 0x1000, 0x1010, 0x1020};
  return reinterpret_cast<const void*>(handles[stream]);
}
bool blocking(size_t stream) { return stream < 3; }
const void* event_handle(size_t event) { return reinterpret_cast<const void*>(0x2000 + event); }

class Model {
 public:
  // What the stream has done when it has done all that it was asked for.
  Set& ask(size_t stream) {
    Set& done = streams_[stream];
    done |= host_;
    if (stream == 0) {
      for (size_t other = 0; other < stream_count; ++other) {
        if (blocking(other)) done |= streams_[other];
      }
    } else if (blocking(stream)) {
      done |= streams_[0];
    }
    return done;
  }
  void record(size_t event, size_t stream) { events_[event] = ask(stream); }
  void wait(size_t stream, size_t event) { streams_[stream] |= events_[event]; }
  void wait_on_host(const Set& done) { host_ |= done; }
  void wait_on_host_for_event(size_t event) { host_ |= events_[event]; }
  void wait_on_host_for_all() {
    for (const Set& done : streams_) host_ |= done;
  }
  void work_on_host(size_t segment) { host_.set(segment); }
  const Set& host() const { return host_; }

 private:
  Set host_;
  std::array<Set, stream_count> streams_;
  std::array<Set, event_count> events_;
};

TEST(StreamOrder, AgreesWithSetsOfWhatIsDone) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](size_t bound) { return random() % bound; };
    StreamOrder order;
    Model model;
    std::vector<Tick> ticks;  // of an access in each segment
    Tick now = 10;
    order.begin_run(now);
    for (size_t stream = 2; stream < stream_count; ++stream) {
      order.create(handle(stream), blocking(stream));
    }
    const auto compare = [&](const Set& done, const char* who) {
      bool all = true;
      for (size_t i = 0; i < ticks.size(); ++i) {
        ASSERT_EQ(order.ordered(ticks[i]), done[i])
            << who << ", seed " << seed << ", segment " << i;
        all = all && done[i];
        if (ticks[i] <= order.floor()) {
          ASSERT_TRUE(done[i]) << "below the floor";
        }
      }
      if (order.floor() == last_tick) {
        ASSERT_TRUE(all) << who << ", seed " << seed;
      }
    };
    while (ticks.size() < 120) {
      const size_t stream = below(stream_count), event = below(event_count);
      ++now;
      switch (below(9)) {
        case 0:
          order.record(event_handle(event), handle(stream), now);
          model.record(event, stream);
          break;
        case 1:
          order.wait(handle(stream), event_handle(event));
          model.wait(stream, event);
          break;
        case 2:
          order.wait_on_host_for_stream(handle(stream), now);
          model.wait_on_host(model.ask(stream));
          break;
        case 3:
          order.wait_on_host_for_event(event_handle(event), now);
          model.wait_on_host_for_event(event);
          break;
        case 4:
          if (below(3) != 0) break;
          order.wait_on_host_for_all(now);
          model.wait_on_host_for_all();
          ASSERT_EQ(order.floor(), last_tick);
          break;
        case 5:  // the host works
          model.work_on_host(ticks.size());
          ticks.push_back(now);
          break;
        default: {
          order.begin(handle(stream), now);
          Set& done = model.ask(stream);
          done.set(ticks.size());
          ticks.push_back(now);
          compare(done, "an operation");
          order.end(++now);
          if (below(4) == 0) {
            order.wait_on_host_for_last(++now);
            model.wait_on_host(done);
          }
          break;
        }
      }
      compare(model.host(), "the host");
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(LaunchPlaces, KnowBlocksByTheOrderInWhichTheyRan) {
  LaunchPlaces in_order, reversed, late;
  for (Actor i = 0; i < 3; ++i) {
    in_order.begin_block(7 + i, i);
    reversed.begin_block(7 + i, 2 - i);
    late.begin_block(7 + i, i == 0 ? 0 : 3 - i);
  }
  EXPECT_TRUE(in_order.order.empty());
  EXPECT_EQ(reversed.order, (std::vector<uint64_t>{2, 1, 0}));
  EXPECT_EQ(late.order, (std::vector<uint64_t>{0, 2, 1}));
  EXPECT_EQ(late.first_block, 7u);
}

}  // namespace
}  // namespace warpfuzz::simt::race
