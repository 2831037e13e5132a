"""Items: how sure each field is, what was refused; products with the history of their prices, and their search."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_ITEMS = """
alter table items add column fields jsonb not null default '{}'::jsonb;
create index items_domain_idx on items (domain_id, kind, id);

create table item_rejects (
    id bigint generated always as identity primary key,
    snapshot_id bigint not null,
    domain_id bigint not null,
    path_hash bigint not null,
    kind text not null,
    position int not null,
    field text,
    value text not null,
    reason text not null,
    extractor text not null,
    extractor_version int not null,
    created_at timestamptz not null default bailiwick_now()
);
create index item_rejects_snapshot_idx on item_rejects (snapshot_id);
create index item_rejects_domain_idx on item_rejects (domain_id, id);
"""

# A projection of items of kind product: what their pages hold now, one row a page and position.
_PRODUCTS = """
create table products (
    id bigint generated always as identity primary key,
    domain_id bigint not null,
    path_hash bigint not null,
    position int not null,
    item_id bigint not null,
    product_name text not null,
    description text,
    price numeric,
    currency text,
    availability text,
    rating numeric(3, 2),
    review_count int,
    brand text,
    category text,
    sku text,
    confidence double precision not null,
    parser text not null,
    parser_version int not null,
    content_hash bytea not null,
    metadata jsonb not null default '{}'::jsonb,
    created_at timestamptz not null default bailiwick_now(),
    updated_at timestamptz not null default bailiwick_now(),
    gone_at timestamptz,
    constraint products_page_key unique (domain_id, path_hash, position),
    constraint products_price_check check (price >= 0),
    constraint products_currency_check check (currency ~ '^[A-Z]{3}$'),
    constraint products_availability_check check (availability in ('in_stock', 'out_of_stock')),
    constraint products_rating_check check (rating between 0 and 5),
    constraint products_review_count_check check (review_count >= 0)
);
create index products_name_idx on products (left(product_name, 100));
create index products_price_idx on products (price);
create index products_availability_idx on products (availability, price);
create index products_created_at_idx on products (created_at);
create index products_brand_idx on products (left(brand, 100));
create index products_category_idx on products (left(category, 100));

create table price_history (
    id bigint generated always as identity primary key,
    product_id bigint not null,
    price numeric,
    currency text,
    availability text,
    seen_at timestamptz not null default bailiwick_now(),
    constraint price_history_product_fkey foreign key (product_id) references products (id) on delete cascade
);
create index price_history_product_idx on price_history (product_id, id);
"""

# Products are listed by their price, whatever else is asked of them: an index for each way to ask.
_SEARCH = """
alter table search_documents
    add column price numeric,
    add column currency text,
    add column availability text,
    add column brand text,
    add column category text;
create index search_documents_price_idx on search_documents (price, domain_id, path_hash) where kind = 'product';
create index search_documents_in_stock_idx on search_documents (price, domain_id, path_hash)
    where kind = 'product' and availability = 'in_stock';
create index search_documents_brand_idx on search_documents (lower(brand), price) where kind = 'product';
create index search_documents_category_idx on search_documents (lower(category), price) where kind = 'product';
create index search_documents_shop_idx on search_documents (domain_id, price) where kind = 'product';
"""


def upgrade() -> None:
    op.execute(_ITEMS)
    op.execute(_PRODUCTS)
    op.execute(_SEARCH)


def downgrade() -> None:
    op.execute("""
        drop index search_documents_price_idx, search_documents_in_stock_idx, search_documents_brand_idx,
            search_documents_category_idx, search_documents_shop_idx;
        alter table search_documents drop column price, drop column currency, drop column availability,
            drop column brand, drop column category;
        drop index items_domain_idx;
        drop table price_history, products, item_rejects;
        alter table items drop column fields;
    """)
