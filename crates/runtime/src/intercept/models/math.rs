//! Functions with two results.

use crate::intercept::model::models;
use core::ffi::{c_double, c_float, c_int};

models! {
    fn frexp[value: c_double](exponent: *mut c_int) -> c_double, then |m, _| m.fill(exponent);
    fn frexpf[value: c_float](exponent: *mut c_int) -> c_float, then |m, _| m.fill(exponent);
    fn modf[value: c_double](whole: *mut c_double) -> c_double, then |m, _| m.fill(whole);
    fn modff[value: c_float](whole: *mut c_float) -> c_float, then |m, _| m.fill(whole);
    fn remquo[one: c_double, other: c_double](quotient: *mut c_int) -> c_double, then |m, r| if !r.is_nan() { m.fill(quotient) };
    fn remquof[one: c_float, other: c_float](quotient: *mut c_int) -> c_float, then |m, r| if !r.is_nan() { m.fill(quotient) };
    fn sincos[angle: c_double](sine: *mut c_double, cosine: *mut c_double) -> (), then |m, ()| { m.fill(sine); m.fill(cosine) };
    fn sincosf[angle: c_float](sine: *mut c_float, cosine: *mut c_float) -> (), then |m, ()| { m.fill(sine); m.fill(cosine) };
    fn lgamma_r[value: c_double](sign: *mut c_int) -> c_double, then |m, _| m.fill(sign);
    fn lgammaf_r[value: c_float](sign: *mut c_int) -> c_float, then |m, _| m.fill(sign);
}
