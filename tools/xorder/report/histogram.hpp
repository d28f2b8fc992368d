// How often values of each size occur, in classes whose ends grow by the same factor.
#pragma once

#include <cstdint>
#include <vector>

namespace xorder::cli {

class Histogram {
 public:
  /// Values outside are counted with the smallest or the largest class. 0 < least < most.
  Histogram(double least, double most, int classes_per_decade);

  void add(double value);
  std::uint64_t count() const { return count_; }
  /// 0 if there is none.
  double largest() const { return largest_; }
  /// A value that was added and that this part of all values, from 0 to 1, does not exceed: the largest of
  /// its class. 0 if there are none.
  double quantile(double part) const;

  std::size_t classes() const { return counts_.size(); }
  std::uint64_t at(std::size_t i) const { return counts_[i]; }
  /// Where class i begins; that of classes() is where the last one ends.
  double begin(std::size_t i) const;

 private:
  double least_, per_decade_;
  std::uint64_t count_ = 0;
  double largest_ = 0;
  std::vector<std::uint64_t> counts_;
  std::vector<double> largest_of_class_;
};

}  // namespace xorder::cli
