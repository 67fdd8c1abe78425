// Multiprecision: level 2 of the oracle, 168 significant bits, round to nearest. Slow (microseconds
// per operation with a transcendental); reached by elements that double-double leaves open, and by
// audits. Boost's number behind functions of our own, since its headers take the compiler seconds:
// only multiprecision.cc sees them.
#pragma once

#include <cstddef>

#include "reference/plain.h"

namespace warpfuzz {

class Multiprecision {
 public:
  explicit Multiprecision(double value);  // exact
  Multiprecision(const Multiprecision& other);
  Multiprecision& operator=(const Multiprecision& other);
  ~Multiprecision() = default;

  // The nearest double.
  explicit operator double() const;

  // The number itself. T is Boost's type; not for others than multiprecision.cc.
  template <class T>
  T& as() {
    return *reinterpret_cast<T*>(storage_);
  }
  template <class T>
  const T& as() const {
    return *reinterpret_cast<const T*>(storage_);
  }

 private:
  alignas(16) std::byte storage_[64];
};

Multiprecision operator-(const Multiprecision& a);
Multiprecision operator+(const Multiprecision& a, const Multiprecision& b);
Multiprecision operator-(const Multiprecision& a, const Multiprecision& b);
Multiprecision operator*(const Multiprecision& a, const Multiprecision& b);
Multiprecision operator/(const Multiprecision& a, const Multiprecision& b);
bool operator>(const Multiprecision& a, const Multiprecision& b);
Multiprecision sqrt(const Multiprecision& a);

template <>
struct NumberFunctions<Multiprecision> {
  static Multiprecision exp(const Multiprecision& x);
  static Multiprecision log(const Multiprecision& x);
  static Multiprecision erf(const Multiprecision& x);
  static Multiprecision tanh(const Multiprecision& x);
  static Multiprecision from_decimal(const char* text);
  static Refined refined(const Multiprecision& x);
};

}  // namespace warpfuzz
