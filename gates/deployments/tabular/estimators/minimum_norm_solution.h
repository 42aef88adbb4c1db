// Finds the shortest solution of a square linear system that may be singular.
//
//   std::vector<double> triangle = ...;  // 3 x 3, column by column
//   SolveMinimumNorm(3, 3, 1e-12, triangle.data(), right_side, solution);
//
// The solution is the shortest of all least-squares solutions of the system:
// linearly dependent columns share the weight. The method is a complete
// orthogonal decomposition (Golub and Van Loan, Matrix Computations, 5.4) by
// Eigen, whose templates take long to compile. Behind this plain interface they
// are not compiled again when an estimator changes.
//
// Thread-safe if the arguments are not shared. Memory: the decomposition is
// made in place; in addition some vectors of `size` numbers, and twice rank x
// size numbers if the system is singular. Time: cubic in `size`.

#ifndef FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_MINIMUM_NORM_SOLUTION_H_
#define FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_MINIMUM_NORM_SOLUTION_H_

#include <cstddef>

namespace footprint {
namespace tabular {

// `square` holds `size` columns of `size` numbers, `column_stride` numbers from
// one to the next, and is overwritten. `right_side` and `solution` have `size`
// numbers and may not overlap. A column counts as linearly dependent if its
// pivot is at most `threshold` times the largest pivot. The caller owns all
// three.
void SolveMinimumNorm(size_t size, size_t column_stride, double threshold,
                      double* square, const double* right_side,
                      double* solution);

}  // namespace tabular
}  // namespace footprint

#endif  // FOOTPRINT_GATES_DEPLOYMENTS_TABULAR_ESTIMATORS_MINIMUM_NORM_SOLUTION_H_
