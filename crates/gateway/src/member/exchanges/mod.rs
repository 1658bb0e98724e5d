//! A connection with the server for each request that is under way, so that none waits for another
//! (RFC 9112, section 9.3.2).

mod exchange;
mod pool;
mod talk;

use std::collections::BTreeMap;
use std::rc::Rc;

use exchange::Exchange;
pub(super) use pool::Pool;
use talk::answer;
use tokio::task::{AbortHandle, JoinSet};

use super::link::Link;
use crate::frame::{Message, Reply, RequestFrame};

/// Exchanges that are under way.
struct UnderWay {
    pool: Rc<Pool>,
    link: Rc<Link>,
    tasks: JoinSet<u64>,
    exchanges: BTreeMap<u64, (Rc<Exchange>, AbortHandle)>,
}

/// Serves a connection of a switch until it ends.
pub(super) async fn serve(pool: &Rc<Pool>, link: &Rc<Link>) {
    let (pool, link) = (Rc::clone(pool), Rc::clone(link));
    let mut under_way = UnderWay { pool, link, tasks: JoinSet::new(), exchanges: BTreeMap::new() };
    loop {
        let next = under_way.link.receive().await;
        under_way.forget_ended();
        match next {
            Ok(Some((number, message))) => under_way.note(number, message),
            Ok(None) => break,
            // There is nobody to answer any more.
            Err(_) => return under_way.tasks.shutdown().await,
        }
    }
    // Answers to what was asked still go back. Nothing else will come.
    under_way.exchanges.values().for_each(|(exchange, _)| exchange.end());
    while under_way.tasks.join_next().await.is_some() {}
}

impl UnderWay {
    fn note(&mut self, number: u64, message: Message) {
        match message {
            Message::Request(request) => self.begin(number, request, true),
            Message::Begin(request) => self.begin(number, request, false),
            Message::More { exchange, is_last, bytes } => {
                if let Some((known, _)) = self.exchanges.get(&exchange)
                    && let Err((cause, why)) = known.add(bytes, is_last)
                {
                    self.end(exchange);
                    self.pool.note(why);
                    self.link.fail_at_once(exchange, cause, why);
                }
            }
            Message::Credit { exchange, bytes } => {
                if let Some((known, _)) = self.exchanges.get(&exchange) {
                    known.add_credit(bytes);
                }
            }
            Message::Cancel { exchange } => {
                if self.end(exchange) {
                    self.link.reply_at_once(exchange, Reply::cancelled());
                }
            }
            Message::Hello { .. } => {}
        }
    }

    fn begin(&mut self, number: u64, request: RequestFrame, is_whole: bool) {
        let exchange = Rc::new(Exchange::new(number, is_whole, Rc::clone(self.pool.uploads())));
        let (pool, link) = (Rc::clone(&self.pool), Rc::clone(&self.link));
        let known = Rc::clone(&exchange);
        let handle = self.tasks.spawn_local(async move {
            answer(&pool, &link, &exchange, request).await;
            number
        });
        self.exchanges.insert(number, (known, handle));
    }

    /// Ends an exchange before it is over, and closes its connection with the server. Returns
    /// whether there was one.
    fn end(&mut self, exchange: u64) -> bool {
        let ended = self.exchanges.remove(&exchange);
        if let Some((_, handle)) = &ended {
            handle.abort();
        }
        ended.is_some()
    }

    fn forget_ended(&mut self) {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Ok(number) = ended {
                self.exchanges.remove(&number);
            }
        }
    }
}
