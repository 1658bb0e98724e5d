//! Proofs that an endpoint does not know a connection: its stateless reset tokens (RFC 9000, 10.3).
//!
//! An endpoint answers anybody who asks it about a number, and many endpoints may have one secret:
//! the members of a switch, or its gateways. A proof is therefore of one address and port. Another
//! endpoint makes other proofs of the same number (RFC 9000, 21.11).

use std::net::IpAddr;

use ring::hmac;

use super::Credentials;
use crate::wire::ConnectionId;

/// Makes the proofs of an endpoint: the same after a restart at the same address.
#[derive(Debug)]
pub struct Proofs {
    key: hmac::Key,
    port: u16,
}

impl Proofs {
    /// Proofs of an endpoint with these credentials, at this UDP port.
    pub fn new(credentials: &Credentials, port: u16) -> Proofs {
        Proofs { key: credentials.key_for(b"ACP1 unknown"), port }
    }

    /// The proof for a connection whose other end sends to this address of the endpoint.
    pub fn make(&self, local: IpAddr, connection: ConnectionId) -> [u8; 16] {
        let address = match local.to_canonical() {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        let mut context = hmac::Context::with_key(&self.key);
        context.update(&address.octets());
        context.update(&self.port.to_be_bytes());
        context.update(&connection.0.to_be_bytes());
        let mut proof = [0; 16];
        proof.copy_from_slice(&context.sign().as_ref()[..16]);
        proof
    }
}

/// Whether two proofs are equal, in a time that does not say how far they are (RFC 9000, 10.3.1).
pub fn is_same_proof(one: &[u8; 16], other: &[u8; 16]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    core::hint::black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyPair;

    #[test]
    fn a_proof_is_of_one_endpoint_and_one_connection() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let make = |byte, port, local, id| {
            Proofs::new(&Credentials::Shared([byte; 32]), port)
                .make(address(local), ConnectionId(id))
        };
        let proof = make(7, 1, "10.0.0.1", 5);
        assert!(is_same_proof(&proof, &make(7, 1, "10.0.0.1", 5)), "after a restart");
        assert!(is_same_proof(&proof, &make(7, 1, "::ffff:10.0.0.1", 5)), "of a socket for IPv6");
        let others = [
            make(8, 1, "10.0.0.1", 5),
            make(7, 2, "10.0.0.1", 5),
            make(7, 1, "10.0.0.2", 5),
            make(7, 1, "10.0.0.1", 6),
        ];
        assert!(others.iter().all(|other| !is_same_proof(&proof, other)));
    }

    #[test]
    fn ends_with_key_pairs_have_proofs_of_their_own() {
        let of = |own: &KeyPair| {
            let credentials = Credentials::Pair { own: own.clone(), others: Vec::new() };
            Proofs::new(&credentials, 1).make([10, 0, 0, 1].into(), ConnectionId(5))
        };
        let (one, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        assert!(is_same_proof(&of(&one), &of(&one)) && !is_same_proof(&of(&one), &of(&other)));
    }
}
