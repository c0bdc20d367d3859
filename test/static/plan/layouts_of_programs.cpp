// Layouts of results and gradients, and movements, of programs on sharded tensors, checked at compile time. The axes d
// and m have two workers each; "d," is sharded over d along its first dimension, "~m" has a pending sum over m, and
// "^d" is reduced over d.
#include "layouts_of_programs.hpp"

using layouts_of_programs::followed;

// operands, steps: result | gradients | moves

// products: the sharded dimensions decide what moves
static_assert(followed("d, ,m", "matmul 0 1") == "d,m | d, ,m | d0:all_reduce(m) d1:all_reduce(d)");
static_assert(followed("d, m,", "matmul 0 1") == "d,~m | d, m, | d0:all_gather(m) d1:all_reduce(d)");
static_assert(followed("d,m m,", "matmul 0 1") == "d,~m | d,m m, | d1:all_reduce(d)");
static_assert(followed("d,m ,m", "matmul 0 1") ==
              "d,m | d,m ,m | 0:all_gather(m) d0:reduce_scatter(m) d1:all_reduce(d)");
static_assert(followed(",m m,", "matmul 0 1") == ",~m | ,m m, | ");
static_assert(followed("m, ,m", "matmul 0 1") == "m, | m, ,m | 1:all_gather(m) d1:reduce_scatter(m)");
static_assert(followed(", ,m", "matmul 0 1") == ",m | , ,m | d0:all_reduce(m)");
static_assert(followed("d, ,", "matmul 0 1") == "d, | d, , | d1:all_reduce(d)");
static_assert(followed("d, ,d", "matmul 0 1") == "d, | d, ,d | 1:all_gather(d) d1:reduce_scatter(d)");
static_assert(followed("d+m, ,", "matmul 0 1") == "d+m, | d+m, , | d1:all_reduce(d+m)");
static_assert(followed(", ,d+m", "matmul 0 1") == ",d+m | , ,d+m | d0:all_reduce(d+m)");
static_assert(followed(",d+m d+m,", "matmul 0 1") == ",~d~m | ,d+m d+m, | ");
static_assert(followed("d,m m,d", "matmul 0 1") == "d,~m | d,m m,d | 1:all_gather(d) d1:reduce_scatter(d)");
static_assert(followed("d,m ,", "matmul 0 1") == "d,~m | d,m , | d1:all_reduce(d)+all_gather(m)");
static_assert(followed("d,~m m,", "matmul 0 1") ==
              "d,~m | d,^m m, | 0:reduce_scatter(m) d0:all_gather(m) d1:all_reduce(d)");
static_assert(followed("d,~m ,m", "matmul 0 1") == "d,m | d,^m ,m | 0:all_reduce(m) d0:all_reduce(m) d1:all_reduce(d)");
static_assert(followed("d, ,^d", "matmul 0 1") == "d, | d, ,~d | ");
static_assert(followed("d, ,m^d", "matmul 0 1") == "d,m | d, ,m~d | d0:all_reduce(m)");
static_assert(followed("d,m m,^d", "matmul 0 1") == "d,~m | d,m m,~d | ");
static_assert(followed("d,m d,m", "matmul 0 1") ==
              "d,m | d,m d,m | 0:all_gather(m) 1:all_gather(d) d0:reduce_scatter(m) d1:reduce_scatter(d)");
static_assert(followed("m,d d,m", "matmul 0 1") == "m,~d | m,d d,m | 1:all_gather(m) d1:reduce_scatter(m)");
static_assert(followed("d, d,m", "matmul 0 1") ==
              "d,m | d, d,m | 1:all_gather(d) d0:all_reduce(m) d1:reduce_scatter(d)");

// batches of products
static_assert(followed("d,, ,m", "bmk,kn->bmn 0 1") == "d,,m | d,, ,m | d0:all_reduce(m) d1:all_reduce(d)");
static_assert(followed("d,m, ,", "bmk,kn->bmn 0 1") == "d,m, | d,m, , | d1:all_reduce(d+m)");
static_assert(followed("d,,m m,", "bmk,kn->bmn 0 1") == "d,,~m | d,,m m, | d1:all_reduce(d)");
static_assert(followed("d,, m,", "bmk,kn->bmn 0 1") == "d,,~m | d,, m, | d0:all_gather(m) d1:all_reduce(d)");
static_assert(followed("d,, ,m^d", "bmk,kn->bmn 0 1") == "d,,m | d,, ,m~d | d0:all_reduce(m)");
static_assert(followed("d,, ,^d", "bmk,kn->bmn 0 1") == "d,, | d,, ,~d | ");
static_assert(followed(",d, ,m", "bmk,kn->bmn 0 1") == ",d,m | ,d, ,m | d0:all_reduce(m) d1:all_reduce(d)");
static_assert(followed("d,m, d,", "bmk,kn->bmn 0 1") ==
              "d,m, | d,m, d, | 1:all_gather(d) d1:reduce_scatter(d+m)+all_gather(m)");
static_assert(followed("d,, d,,", "bik,bkj->bij 0 1") == "d,, | d,, d,, | ");
static_assert(followed("d,m, d,,", "bik,bkj->bij 0 1") == "d,m, | d,m, d,, | d1:all_reduce(m)");
static_assert(followed("d,,m d,m,", "bik,bkj->bij 0 1") == "d,,~m | d,,m d,m, | ");
static_assert(followed("d,, ,,", "bik,bkj->bij 0 1") == "d,, | d,, ,, | d1:all_gather(d)");
static_assert(followed("d,, m,,", "bik,bkj->bij 0 1") == "d,, | d,, m,, | 1:permute d1:permute");
static_assert(followed("d+m,, d+m,,", "bik,bkj->bij 0 1") == "d+m,, | d+m,, d+m,, | ");

// attention: scores and values, with sharded heads, queries or keys
static_assert(followed("d,, d,, d,,", "bqd,bkd->bqk 0 1 bqk,bkd->bqd 3 2") == "d,, | d,, d,, d,, | ");
static_assert(followed("d,m, d,, d,,", "bqd,bkd->bqk 0 1 bqk,bkd->bqd 3 2") ==
              "d,m, | d,m, d,, d,, | d2:all_reduce(m) d1:all_reduce(m)");
static_assert(followed("d,, d,m, d,m,", "bqd,bkd->bqk 0 1 bqk,bkd->bqd 3 2") ==
              "d,,~m | d,, d,m, d,m, | d0:all_reduce(m)");
static_assert(followed("d,m, d,m, d,m,", "bqd,bkd->bqk 0 1 bqk,bkd->bqd 3 2") ==
              "d,m, | d,m, d,m, d,m, | 1:all_gather(m) 2:all_gather(m) d2:reduce_scatter(m) d1:reduce_scatter(m)");
static_assert(followed("d+m,, d+m,, d+m,,", "bqd,bkd->bqk 0 1 bqk,bkd->bqd 3 2") == "d+m,, | d+m,, d+m,, d+m,, | ");
static_assert(followed("d,,m d,,m d,,m", "bqd,bkd->bqk 0 1 bqk,bkd->bqd 3 2") ==
              "d,,m | d,,m d,,m d,,m | 3:all_reduce(m) d3:all_reduce(m)");

// element by element
static_assert(followed("d,m d,m", "add 0 1") == "d,m | d,m d,m | ");
static_assert(followed("d, ,m", "add 0 1") == "d,m | d, ,m | d0:all_gather(m) d1:all_gather(d)");
static_assert(followed("d, ,", "add 0 1") == "d, | d, , | d1:all_gather(d)");
static_assert(followed("d,m d,", "add 0 1") == "d,m | d,m d, | d1:all_gather(m)");
static_assert(followed("d,~m d,~m", "add 0 1") == "d,~m | d,^m d,^m | ");
static_assert(followed("d,~m d,", "add 0 1") == "d, | d,^m d, | 0:all_reduce(m)");
static_assert(followed("d, m,", "add 0 1") == "d, | d, m, | 1:permute d1:permute");
static_assert(followed(",^d ,^d", "add 0 1") == ", | ,~d ,~d | ");
static_assert(followed("d+m, d+m,", "add 0 1") == "d+m, | d+m, d+m, | ");
static_assert(followed("d+m, m+d,", "add 0 1") == "d+m, | d+m, m+d, | 1:permute d1:permute");
static_assert(followed("d,m d,m", "multiply 0 1") == "d,m | d,m d,m | ");
static_assert(followed("d,~m d,", "multiply 0 1") == "d,~m | d,^m d, | d1:all_reduce(m)");
static_assert(followed("d,~m d,~m", "multiply 0 1") == "d, | d,^m d,^m | 0:all_reduce(m) 1:all_reduce(m)");
static_assert(followed("d, ,m", "multiply 0 1") == "d,m | d, ,m | d0:all_gather(m) d1:all_gather(d)");
static_assert(followed(",^d d,", "multiply 0 1") == "d, | ,~d d, | d0:all_gather(d)");
static_assert(followed("d,m", "relu 0") == "d,m | d,m | ");
static_assert(followed("d,~m", "relu 0") == "d, | d,^m | 0:all_reduce(m)");
static_assert(followed(",^d", "relu 0") == ", | ,~d | ");
static_assert(followed("d+m,", "relu 0") == "d+m, | d+m, | ");
static_assert(followed("d,m", "gelu 0") == "d,m | d,m | ");
static_assert(followed("d,~m", "gelu 0") == "d, | d,^m | 0:all_reduce(m)");
static_assert(followed("d,~m", "scale 0") == "d,~m | d,^m | ");
static_assert(followed(",~d~m", "scale 0") == ",~d~m | ,^d^m | ");
static_assert(followed(",^d", "scale 0") == ", | ,~d | ");

// a bias along the last dimension
static_assert(followed("d,m m", "bias 0 1") == "d,m | d,m m | d1:all_reduce(d)");
static_assert(followed("d,m m^d", "bias 0 1") == "d,m | d,m m~d | ");
static_assert(followed("d,, m", "bsf,f->bsf 0 1") == "d,,m | d,, m | d0:all_gather(m) d1:all_reduce(d)");
static_assert(followed("d,, m^d", "bsf,f->bsf 0 1") == "d,,m | d,, m~d | d0:all_gather(m)");

// sums and transposes
static_assert(followed("d,m", "sum0 0") == "m~d | d,m | ");
static_assert(followed("d+m,", "sum0 0") == "~d~m | d+m, | ");
static_assert(followed(",m", "sum0 0") == "m | ,m | ");
static_assert(followed("d,~m", "sum0 0") == "~d~m | d,^m | ");
static_assert(followed("d,m", "sum1 0") == "d~m | d,m | ");
static_assert(followed("d,", "sum1 0") == "d | d, | ");
static_assert(followed(",^d", "sum1 0") == " | ,~d | ");
static_assert(followed("d,m", "sum 0") == "~d~m | d,m | ");
static_assert(followed(",", "sum 0") == " | , | ");
static_assert(followed("d,~m", "sum 0") == "~d~m | d,^m | ");
static_assert(followed("d,m", "transpose 0") == "m,d | d,m | ");
static_assert(followed("d,~m", "transpose 0") == ",d~m | d,^m | ");
static_assert(followed("d+m,", "transpose 0") == ",d+m | d+m, | ");
static_assert(followed(",^d", "transpose 0") == ", | ,~d | ");
static_assert(followed("d,m", "ij->ji 0") == "m,d | d,m | ");
static_assert(followed(",m", "ij->ji 0") == "m, | ,m | ");
static_assert(followed("d,m,", "bij->bj 0") == "d,~m | d,m, | ");
static_assert(followed("d,,m", "bij->bj 0") == "d,m | d,,m | ");

// two layers: columns then rows have one pending sum; other shardings move more
static_assert(followed("d, ,m m,", "matmul 0 1 relu 3 matmul 4 2") ==
              "d,~m | d, ,m m, | d2:all_reduce(d) d0:all_reduce(m) d1:all_reduce(d)");
static_assert(followed("d, ,m^d m,^d", "matmul 0 1 relu 3 matmul 4 2") == "d,~m | d, ,m~d m,~d | d0:all_reduce(m)");
static_assert(followed(", ,m m,", "matmul 0 1 relu 3 matmul 4 2") == ",~m | , ,m m, | d0:all_reduce(m)");
static_assert(followed("d, m, ,m", "matmul 0 1 relu 3 matmul 4 2") ==
              "d,m | d, m, ,m | 3:all_reduce(m) d4:all_reduce(m) d2:all_reduce(d) d0:all_gather(m) d1:all_reduce(d)");
static_assert(followed("d, , ,", "matmul 0 1 relu 3 matmul 4 2") == "d, | d, , , | d2:all_reduce(d) d1:all_reduce(d)");
static_assert(followed("d, ,^d ,^d", "matmul 0 1 relu 3 matmul 4 2") == "d, | d, ,~d ,~d | ");
static_assert(followed("d+m, , ,", "matmul 0 1 relu 3 matmul 4 2") ==
              "d+m, | d+m, , , | d2:all_reduce(d+m) d1:all_reduce(d+m)");
static_assert(
    followed("d, ,m ,m", "matmul 0 1 relu 3 matmul 4 2") ==
    "d,m | d, ,m ,m | 4:all_gather(m) d4:reduce_scatter(m) d2:all_reduce(d) d0:all_reduce(m) d1:all_reduce(d)");
static_assert(followed("d,m m, m,", "matmul 0 1 relu 3 matmul 4 2") ==
              "d,~m | d,m m, m, | 3:all_reduce(m) d4:all_gather(m) d2:all_reduce(d) d1:all_reduce(d)");
static_assert(followed("d, d, d,", "matmul 0 1 relu 3 matmul 4 2") ==
              "d, | d, d, d, | 1:all_gather(d) 2:all_gather(d) d2:reduce_scatter(d) d1:reduce_scatter(d)");
static_assert(
    followed("d, d,m m,d", "matmul 0 1 relu 3 matmul 4 2") ==
    "d,~m | d, d,m m,d | 1:all_gather(d) 2:all_gather(d) d2:reduce_scatter(d) d0:all_reduce(m) d1:reduce_scatter(d)");
static_assert(
    followed("d, ,m ,d", "matmul 0 1 relu 3 matmul 4 2") ==
    ",d~m | d, ,m ,d | 4:all_gather(d) d4:reduce_scatter(d) d2:all_gather(m) d0:all_reduce(m) d1:all_reduce(d)");
static_assert(followed("d, ,m^d m^d m,^d", "matmul 0 1 bias 4 2 relu 5 matmul 6 3") ==
              "d,~m | d, ,m~d m~d m,~d | d0:all_reduce(m)");
static_assert(followed("d, ,m m^d m,", "matmul 0 1 bias 4 2 relu 5 matmul 6 3") ==
              "d,~m | d, ,m m~d m, | d3:all_reduce(d) d0:all_reduce(m) d1:all_reduce(d)");
static_assert(followed("d, ,m m,", "matmul 0 1 gelu 3 matmul 4 2 sum 5") ==
              "~d~m | d, ,m m, | d2:all_reduce(d) d0:all_reduce(m) d1:all_reduce(d)");
static_assert(followed("d, ,m^d m,^d", "matmul 0 1 gelu 3 matmul 4 2 sum 5") ==
              "~d~m | d, ,m~d m,~d | d0:all_reduce(m)");
static_assert(followed("d, , ,", "matmul 0 1 gelu 3 matmul 4 2 sum 5") ==
              "~d | d, , , | d2:all_reduce(d) d1:all_reduce(d)");

// a residual
static_assert(followed("d, ,m m,", "matmul 0 1 relu 3 matmul 4 2 add 0 5") ==
              "d, | d, ,m m, | 5:all_reduce(m) d2:all_reduce(d) d0:all_reduce(m) d1:all_reduce(d)");
static_assert(followed("d, ,m^d m,^d", "matmul 0 1 relu 3 matmul 4 2 add 0 5") ==
              "d, | d, ,m~d m,~d | 5:all_reduce(m) d0:all_reduce(m)");
static_assert(followed("d,m , ,", "matmul 0 1 relu 3 matmul 4 2 add 0 5") ==
              "d,m | d,m , , | 3:all_reduce(m) d5:all_gather(m) d2:all_reduce(d) d1:all_reduce(d)+all_gather(m)");
static_assert(followed("d+m, ,^d ,^d", "matmul 0 1 relu 3 matmul 4 2 add 0 5") ==
              "d+m, | d+m, ,~d ,~d | d2:all_reduce(m) d1:all_reduce(m)");
static_assert(followed("d,^m ,m^d m,^d", "matmul 0 1 relu 3 matmul 4 2 add 0 5") ==
              "d, | d,~m ,m~d m,~d | 5:all_reduce(m)");

// the gradient of a weight that is used twice is reduced once
static_assert(followed("d, ,", "matmul 0 1 matmul 2 1") == "d, | d, , | d1:all_reduce(d) d1:all_reduce(d)");
static_assert(followed("d, ,^d", "matmul 0 1 matmul 2 1") == "d, | d, ,~d | ");
static_assert(followed("d,m ,", "matmul 0 1 matmul 2 1") ==
              "d,~m | d,m , | d1:all_reduce(d+m) d1:all_reduce(d)+all_gather(m)");
static_assert(followed("d, m,", "matmul 0 1 matmul 2 1") ==
              "d,~m | d, m, | 2:reduce_scatter(m) d2:all_gather(m) d1:all_reduce(d) d0:all_gather(m) d1:all_reduce(d)");
static_assert(followed("d, ,^d", "matmul 0 1 matmul 2 1 add 2 3") == "d, | d, ,~d | ");
static_assert(followed("d,m ,m", "matmul 0 1 matmul 2 1 add 2 3") ==
              "d,m | d,m ,m | 0:all_gather(m) 2:all_gather(m) d2:reduce_scatter(m) d1:all_reduce(d) "
              "d0:reduce_scatter(m) d1:all_reduce(d)");
