//! Transcendental functions by series: the platforms' own differ in the last bits, and rankings must not.

use std::f64::consts::{LN_2, SQRT_2};

/// Natural logarithm of a positive, finite number.
///
/// ln(x) = k·ln 2 + 2·atanh((m − 1) / (m + 1)) with x = m·2^k and m in [√½, √2).
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let square = t * t;
    let (mut power, mut sum, mut odd) = (t, 0.0, 1.0);
    while odd < 30.0 {
        sum += power / odd;
        power *= square;
        odd += 2.0;
    }
    2.0 * sum + exponent as f64 * LN_2
}

/// e to the power of `x`, for `x` between −700 and 700; clamped beyond.
pub fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let halvings = (x / LN_2).round();
    let rest = x - halvings * LN_2;
    let (mut term, mut sum, mut n) = (1.0, 1.0, 1.0);
    while n < 18.0 {
        term *= rest / n;
        sum += term;
        n += 1.0;
    }
    sum * f64::from_bits(((halvings as i64 + 1023) as u64) << 52)
}

/// The logistic function: log-odds to probability.
pub fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + exp(-log_odds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_platform() {
        for x in [0.001, 0.5, 1.0, 1.5, 2.0, 3.7, 10.0, 1234.5, 1e9] {
            assert!((ln(x) - f64::ln(x)).abs() < 1e-13, "ln {x}");
        }
        for x in [-30.0, -1.0, 0.0, 0.3, 1.0, 5.5, 40.0] {
            assert!((exp(x) / f64::exp(x) - 1.0).abs() < 1e-13, "exp {x}");
        }
        assert_eq!(logistic(0.0), 0.5);
        assert!(logistic(-1e9) > 0.0 && logistic(1e9) <= 1.0);
    }
}
