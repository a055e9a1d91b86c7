/// Scales `vector` to unit length; a zero vector stays zero.
pub fn normalize(vector: &mut [f32]) {
    let length = dot(vector, vector).sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter_mut().for_each(|value| *value /= length);
    } else {
        vector.fill(0.0);
    }
}

/// Inner product, summed in eight lanes in a fixed order, so that it is the same on every platform.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_lanes, a_rest) = a.as_chunks::<8>();
    let (b_lanes, b_rest) = b.as_chunks::<8>();
    let mut lanes = [0f32; 8];
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for ((sum, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f32>() + rest
}

/// A unit vector in one byte a dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantized {
    /// Each value times 127 over the largest magnitude, rounded.
    pub values: Vec<i8>,
    /// What one step is worth.
    pub scale: f32,
}

/// Rounds a vector to one byte a dimension with a scale of its own.
pub fn quantize(vector: &[f32]) -> Quantized {
    let mut values = Vec::with_capacity(vector.len());
    let scale = quantize_onto(vector, &mut values);
    Quantized { values, scale }
}

/// As [`quantize`], with the values appended to those of other vectors; gives the scale.
pub fn quantize_onto(vector: &[f32], values: &mut Vec<i8>) -> f32 {
    let largest = largest(vector);
    if largest == 0.0 || !largest.is_finite() {
        values.resize(values.len() + vector.len(), 0);
        return 0.0;
    }
    values.extend(vector.iter().map(|value| round(value * 127.0 / largest) as i8));
    largest / 127.0
}

/// The largest magnitude; 0 of nothing.
pub fn largest(vector: &[f32]) -> f32 {
    // Not `f32::max`, which is a call for each number in wasm.
    vector.iter().fold(0f32, |largest, value| if value.abs() > largest { value.abs() } else { largest })
}

/// The nearest whole number, halves away from zero, of a number below 2²² in magnitude. As `f32::round`, which is a call for each number in wasm.
pub fn round(value: f32) -> i32 {
    // The largest number below a half: with the half itself, what is just below a half would be rounded up.
    (value + 0.499_999_97f32.copysign(value)) as i32
}

/// Inner product of two quantized vectors in integers; the product of the scales turns it into a cosine.
pub fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    let (a_lanes, a_rest) = a.as_chunks::<16>();
    let (b_lanes, b_rest) = b.as_chunks::<16>();
    let mut sum = 0i32;
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        let mut part = 0i32;
        for (a, b) in a.iter().zip(b) {
            part += i32::from(i16::from(*a) * i16::from(*b));
        }
        sum += part;
    }
    sum + a_rest.iter().zip(b_rest).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn quantized_cosines_stay_close(a in proptest::collection::vec(-1f32..1.0, 384), b in proptest::collection::vec(-1f32..1.0, 384)) {
            let (mut a, mut b) = (a, b);
            normalize(&mut a);
            normalize(&mut b);
            let (qa, qb) = (quantize(&a), quantize(&b));
            let cosine = dot_i8(&qa.values, &qb.values) as f32 * qa.scale * qb.scale;
            proptest::prop_assert!((cosine - dot(&a, &b)).abs() < 0.01);
        }
    }

    #[test]
    fn rounding_is_that_of_the_standard_library() {
        for half in -600..600 {
            let mut value = half as f32 / 2.0;
            for _ in 0..3 {
                assert_eq!(round(value), value.round() as i32, "{value}");
                value = value.next_down();
            }
            for _ in 0..6 {
                assert_eq!(round(value), value.round() as i32, "{value}");
                value = value.next_up();
            }
        }
    }

    #[test]
    fn a_zero_vector_stays_zero() {
        let mut zero = [0f32; 9];
        normalize(&mut zero);
        assert_eq!(zero, [0f32; 9]);
        assert_eq!(quantize(&zero).scale, 0.0);
    }
}
