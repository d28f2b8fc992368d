// Counts values by size, in classes whose bounds grow by a constant factor.
#pragma once

#include <cstdint>
#include <vector>

namespace xorder::cli {

class Histogram {
 public:
  /// Values outside count in the first or the last class. Requires 0 < least < most.
  Histogram(double least, double most, int classes_per_decade);

  void add(double value);
  std::uint64_t count() const { return count_; }
  /// 0 if there is none.
  double largest() const { return largest_; }
  /// The quantile for this part, from 0 to 1: the largest value in the class where it lies. 0 if there are no
  /// values.
  double quantile(double part) const;

  std::size_t classes() const { return counts_.size(); }
  std::uint64_t at(std::size_t i) const { return counts_[i]; }
  /// Where class i begins; begin of classes() is where the last one ends.
  double begin(std::size_t i) const;

 private:
  double least_, per_decade_;
  std::uint64_t count_ = 0;
  double largest_ = 0;
  std::vector<std::uint64_t> counts_;
  std::vector<double> largest_of_class_;
};

}  // namespace xorder::cli
