! The shared library from Fortran: transposes a matrix in memory. A Fortran array (m, n) is the row-major array (n, m).
program fortran_test
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    integer(c_int) function xorder_permutation_axes(out, rank, shape, axes, element_bytes) bind(c)
      import
      type(c_ptr), intent(out) :: out
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: shape(*)
      type(c_ptr), value :: axes
      integer(c_int64_t), value :: element_bytes
    end function
    integer(c_int) function xorder_plan_create(out, permutation) bind(c)
      import
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: permutation
    end function
    integer(c_int) function xorder_plan_execute(plan, source, target, threads) bind(c)
      import
      type(c_ptr), value :: plan, source, target
      integer(c_int), value :: threads
    end function
    subroutine xorder_plan_free(plan) bind(c)
      import
      type(c_ptr), value :: plan
    end subroutine
    subroutine xorder_permutation_free(permutation) bind(c)
      import
      type(c_ptr), value :: permutation
    end subroutine
  end interface

  integer, parameter :: m = 300, n = 200
  real(c_double), target :: a(m, n), b(n, m)
  type(c_ptr) :: permutation, plan

  call random_number(a)
  b = 0
  if (xorder_permutation_axes(permutation, 2_c_int, [int(n, c_int64_t), int(m, c_int64_t)], c_null_ptr, c_sizeof(a(1, 1))) /= 0) &
    error stop 'permutation'
  if (xorder_plan_create(plan, permutation) /= 0) error stop 'plan'
  if (xorder_plan_execute(plan, c_loc(a), c_loc(b), 0_c_int) /= 0) error stop 'execute'
  if (any(b /= transpose(a))) error stop 'the result is wrong'
  if (xorder_plan_execute(plan, c_loc(a), c_loc(a), 0_c_int) /= -1) error stop 'overlapping arrays'
  call xorder_plan_free(plan)
  call xorder_permutation_free(permutation)
end program
