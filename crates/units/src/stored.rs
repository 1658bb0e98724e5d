//! Quantities in files, as the whole number that the type holds.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Bytes, Duration, Rate, Time};

macro_rules! as_number {
    ($($quantity:ident: $of:path, $to:path;)*) => {$(
        impl Serialize for $quantity {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $to(*self).serialize(to)
            }
        }

        impl<'de> Deserialize<'de> for $quantity {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$quantity, D::Error> {
                u64::deserialize(from).map($of)
            }
        }
    )*};
}

as_number! {
    Time: Time::from_ps, Time::ps;
    Duration: Duration::from_ps, Duration::ps;
    Bytes: Bytes::new, Bytes::get;
    Rate: Rate::from_bps, Rate::bps;
}
