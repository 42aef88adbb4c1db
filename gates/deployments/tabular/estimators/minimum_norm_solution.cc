#include "footprint/gates/deployments/tabular/estimators/minimum_norm_solution.h"

#include "Eigen/Core"
#include "Eigen/QR"

namespace footprint {
namespace tabular {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using InPlace = Eigen::Ref<MatrixXd>;

// Overwrites the first numbers of `vector` with the shortest solution of
// wide * x = vector, where `wide` has fewer rows than columns and is upper
// trapezoidal: its transpose is decomposed once more, into Q U, and
// x = Q * (transposed U)^-1 * vector.
void SolveTrapezoid(const MatrixXd& wide, VectorXd* vector) {
  const Index rank = wide.rows();
  MatrixXd tall = wide.transpose();
  InPlace factors = tall;
  const Eigen::HouseholderQR<InPlace> decomposition(factors);
  tall.topRows(rank).triangularView<Eigen::Upper>().transpose().solveInPlace(
      vector->head(rank));
  vector->tail(vector->size() - rank).setZero();
  vector->applyOnTheLeft(decomposition.householderQ());
}

}  // namespace

// Eigen's CompleteOrthogonalDecomposition does both steps at once, but in place
// it decides the rank before the threshold can be set.
void SolveMinimumNorm(size_t size, size_t column_stride, double threshold,
                      double* square, const double* right_side,
                      double* solution) {
  const Index count = static_cast<Index>(size);
  InPlace columns = Eigen::Map<MatrixXd, 0, Eigen::OuterStride<>>(
      square, count, count,
      Eigen::OuterStride<>(static_cast<Index>(column_stride)));
  Eigen::ColPivHouseholderQR<InPlace> decomposition(columns);
  decomposition.setThreshold(threshold);
  const Index rank = decomposition.rank();
  VectorXd vector = Eigen::Map<const VectorXd>(right_side, count);
  vector.applyOnTheLeft(decomposition.householderQ().adjoint());
  if (rank == count) {
    columns.triangularView<Eigen::Upper>().solveInPlace(vector);
  } else {
    SolveTrapezoid(columns.topRows(rank).triangularView<Eigen::Upper>(),
                   &vector);
  }
  Eigen::Map<VectorXd>(solution, count) =
      decomposition.colsPermutation() * vector;
}

}  // namespace tabular
}  // namespace footprint
